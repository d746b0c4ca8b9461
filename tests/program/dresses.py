"""Writes one theory and one simulation in every dress, into the working folder: theory-DRESS, simulation-DRESS."""
import bz2
import gzip
import json
import lzma
import struct
from decimal import Decimal

# Every number has at most six digits and is the same as float32, as %g prints it, and in binary.
THEORY = [(x, 64 / x) for x in (1.0, 2.0, 4.0)] + [(8.5, 8.0)]
SIMULATION = [
    (x, float(replicate), value + (replicate % 5 - 2) * value / 64)
    for x, value in THEORY
    for replicate in range(40)
]


def plain(number):
    return repr(int(number)) if number == int(number) else repr(number)


def write(name, text, encoding="utf-8"):
    with open(name, "w", encoding=encoding, newline="") as file:
        file.write(text)


def table(columns, rows, separator=",", number=plain, end="\n", extra=""):
    lines = [separator.join(columns) + extra]
    lines += [separator.join(number(value) for value in row) + extra for row in rows]
    return end.join(lines) + end


def dresses(name, columns, rows):
    text = table(columns, rows)
    write(f"{name}-plain.csv", text)
    write(f"{name}-semicolons.csv", table(columns, rows, ";"))
    write(f"{name}-tabs.tsv", table(columns, rows, "\t"))
    write(f"{name}-spaces.txt", table(columns, rows, "  "))
    write(f"{name}-mark.csv", text, "utf-8-sig")
    write(f"{name}-utf16.txt", table(columns, rows, "\t", end="\r\n"), "utf-16")
    write(f"{name}-crlf.csv", table(columns, rows, end="\r\n"))
    write(f"{name}-cr.csv", table(columns, rows, end="\r"))
    write(f"{name}-blank.csv", "\n\n" + text)
    write(f"{name}-comments.csv", "# made by hand\n#\n" + text.replace("\n", "\n# a remark\n", 2) + "# end\n")
    write(f"{name}-quoted.csv", table([f'"{c}"' for c in columns], rows, number=lambda v: f'"{plain(v)}"'))
    write(f"{name}-excel.csv", "sep=;\r\n" + table(columns, rows, ";", end="\r\n") + ";" * (len(columns) - 1) + "\r\n", "utf-8-sig")
    write(f"{name}-digits.csv", table(columns, rows, number=lambda v: f"{Decimal(v):.1200f}"))
    write(f"{name}-e.csv", table(columns, rows, number=lambda v: f"{v:.18e}"))
    write(f"{name}-g.csv", table(columns, rows, number=lambda v: f"{v:g}"))
    write(f"{name}-float32.csv", table(columns, rows, number=lambda v: repr(struct.unpack("f", struct.pack("f", v))[0])))
    write(f"{name}-savetxt.txt", "# " + table(columns, rows, " ", number=lambda v: f"{v:.18e}"))
    write(f"{name}-savetxt.csv", "# made in 2024\n# " + table(columns, rows, number=lambda v: f"{v:.18e}"))
    records = [dict(zip(columns, row)) for row in rows]
    write(f"{name}-records.json", json.dumps(records))
    write(f"{name}-lines.jsonl", "\n".join(map(json.dumps, records)))
    write(f"{name}-lists.json", json.dumps({c: [row[k] for row in rows] for k, c in enumerate(columns)}, indent=1))
    write(f"{name}-columns.json", json.dumps({c: {str(r): row[k] for r, row in enumerate(rows)} for k, c in enumerate(columns)}))
    write(f"{name}-split.json", json.dumps({"columns": columns, "index": list(range(len(rows))), "data": rows}))
    for ending, module in (("gz", gzip), ("bz2", bz2), ("xz", lzma)):
        with module.open(f"{name}-plain.csv.{ending}", "wb") as file:
            file.write(text.encode())
    write(f"{name}-excel.tsv", "sep=\t\r\n" + table(columns, rows, "\t", end="\r\n"), "utf-8-sig")
    cut = text.index("\n", len(text) // 2) + 1
    parts = [gzip.compress(part.encode()) for part in (text[:cut], text[cut:])]
    for ending, content in (("parts", parts[0] + parts[1]), ("behind", parts[0] + text[cut:].encode()),
                            ("sum", parts[0][:-8] + bytes(8))):
        with open(f"{name}-{ending}.csv.gz", "wb") as file:
            file.write(content)
    # These are refused.
    comma = lambda v: plain(v).replace(".", ",")
    write(f"{name}-german.csv", table(columns, rows, ";", comma, end="\r\n"), "utf-8-sig")
    write(f"{name}-thousands.csv", table(columns, [(v + 0.25 if k == len(r) - 1 else v for k, v in enumerate(r)) for r in rows], ";",
                                         lambda v: comma(v) if v < 9 else f"1.{comma(100 + v)}"))
    write(f"{name}-index.csv", "," + ",".join(columns) + "\n" + "".join(f"{k},{','.join(map(plain, row))}\n" for k, row in enumerate(rows)))
    write(f"{name}-trailing.csv", table(columns, rows, extra=","))
    write(f"{name}-title.csv", "My results" + "," * (len(columns) - 1) + "\n" + text)
    write(f"{name}-utf16-without-mark.txt", text, "utf-16-le")
    write(f"{name}-rows.json", json.dumps({str(k): record for k, record in enumerate(records)}))
    write(f"{name}-schema.json", json.dumps({"schema": {"fields": []}, "data": records}))
    write(f"{name}-markdown.md", "|" + "|".join(columns) + "|\n|" + "---|" * len(columns) + "\n" + "".join(f"|{'|'.join(map(plain, row))}|\n" for row in rows))
    write(f"{name}-pipes.csv", table(columns, rows, "|"))
    write(f"{name}-r.csv", '"",' + ",".join(f'"{c}"' for c in columns) + "\n" + "".join(f'"{k + 1}",{",".join(map(plain, row))}\n' for k, row in enumerate(rows)))
    write(f"{name}-r.txt", " ".join(f'"{c}"' for c in columns) + "\n" + "".join(f'"{k + 1}" {" ".join(map(plain, row))}\n' for k, row in enumerate(rows)))
    write(f"{name}-twice.csv", text + "\n" + text)
    half = len(rows) // 2
    write(f"{name}-blocks.dat", "# " + table(columns, rows[:half], " ") + "\n\n# " + table(columns, rows[half:], " "))
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({len(rows)}, {len(columns)}), }}\n"
    with open(f"{name}-array.npy", "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        for row in rows:
            file.write(struct.pack(f"<{len(row)}d", *row))


dresses("theory", ["x", "value"], THEORY)
dresses("simulation", ["x", "replicate", "value"], SIMULATION)
