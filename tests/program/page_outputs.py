"""Compares what a page quotes with what came out.   page_outputs.py QUOTED PRINTED [--excerpt]

Numbers agree to the digits that the page has, at most six; a line `...` stands for any lines, `...` in a line for any text.
With --excerpt every quoted line is found somewhere below the one before it; without, the lines are all there is.
"""

import re
import sys

NUMBER = re.compile(r"(?<![\w.])[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w])")


def close(quoted: str, printed: str) -> bool:
    digits = re.sub(r"[eE].*", "", quoted)
    last = 10.0 ** -len(digits.partition(".")[2]) * 10.0 ** int((re.search(r"[eE]([+-]?\d+)", quoted) or [0, "0"])[1])
    a, b = float(quoted), float(printed)
    if "." not in quoted and "e" not in quoted.lower():
        return a == b and "." not in printed
    return abs(a - b) <= max(0.51 * last, 1e-6 * abs(a))


def same_piece(quoted: str, printed: str) -> bool:
    quoted, printed = " ".join(quoted.split()), " ".join(printed.split())
    if NUMBER.split(quoted) != NUMBER.split(printed):
        return False
    return all(close(a, b) for a, b in zip(NUMBER.findall(quoted), NUMBER.findall(printed)))


def same_line(quoted: str, printed: str) -> bool:
    if quoted.strip() == printed.strip():
        return True
    if "..." not in quoted:
        return same_piece(quoted, printed)
    # What lies between the dots occurs in that order: tried at every place, as numbers need not be equal letter by letter.
    first, _, rest = quoted.partition("...")
    return any(
        same_piece(first, printed[:end]) and any(same_line(rest, printed[start:]) for start in range(end, len(printed) + 1))
        for end in ([0] if not first.strip() else range(1, len(printed) + 1))
    )


def missing(quoted: "list[str]", printed: "list[str]", excerpt: bool) -> "str | None":
    """The first quoted line that did not come out; None if all did."""
    at, loose = 0, excerpt
    for line in quoted:
        if line.strip() == "...":
            loose = True
            continue
        found = next((k for k in range(at, len(printed)) if same_line(line, printed[k])), None)
        if found is None or (found != at and not loose):
            return line
        at, loose = found + 1, excerpt
    return None if loose or at == len(printed) else "(nothing more)"


def lines_of(path: str) -> "list[str]":
    with open(path, encoding="utf-8", errors="replace") as file:
        return [line.rstrip() for line in file if line.strip()]


if __name__ == "__main__":
    quoted, printed = lines_of(sys.argv[1]), lines_of(sys.argv[2])
    line = missing(quoted, printed, "--excerpt" in sys.argv)
    if line is not None:
        print(f"the page quotes: {line}\nwhat comes out:", *printed[:30], sep="\n  ")
        sys.exit(1)
