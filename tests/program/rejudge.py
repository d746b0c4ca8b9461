"""Exports a run's theory and replicates as tables, with a configuration of study own that judges them by the same margins;
or compares the verdicts of two runs point by point.

usage: rejudge.py export RUN FOLDER
       rejudge.py compare RUN RUN"""

import csv
import json
import sys
from pathlib import Path


def text(value):
    return "" if value is None else repr(value) if isinstance(value, float) else str(value)


def export(run, folder):
    theory = json.loads((run / "theory.json").read_text())["predictions"]
    with open(run / "replicates.csv", newline="") as file:
        replicates = list(csv.DictReader(file))
    own = ("study", "series", "x_name", "x", "replicate", "value")
    names = [name for name in replicates[0] if name not in own]
    with open(folder / "theory.csv", "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["series", *names, "x_name", "x", "value", "finite_size", "numerical_error", "compared"])
        simulated = {row["series"] for row in replicates}
        for p in theory:
            if p["name"] not in simulated:
                continue  # drawn only, and at coordinates of its own
            for k, x in enumerate(p["x"]):
                allowances = [text((p.get(key) or [0.0] * len(p["x"]))[k]) for key in ("finite_size", "numerical_error")]
                compared = text((p.get("compared") or [True] * len(p["x"]))[k]).lower()
                point = [text(p["point"].get(name, p["point"].get(name.removeprefix("point_")))) for name in names]
                table.writerow([p["name"], *point, p["x_name"], text(x), text(p["y"][k]), *allowances, compared])
    with open(folder / "simulation.csv", "w", newline="") as file:
        table = csv.writer(file, delimiter=";")  # the other one has commas
        columns = ["series", *names, "x_name", "x", "replicate", "value"]
        table.writerow(columns)
        for row in replicates:
            table.writerow([row[c] for c in columns])
    facts = json.loads((run / "run.json").read_text())
    both = {row["series"] for row in replicates} & {p["name"] for p in theory}
    with open(folder / "again.toml", "w") as file:
        file.write('study = "own"\n[theory]\nfile = "theory.csv"\n[simulation]\nfile = "simulation.csv"\n')
        file.write(f'[sim]\nseed = {facts["seed"]}\n[check]\nfamily = "{facts["family"]}"\n[plot]\nformats = ["svg"]\n')
        for rule in facts["agreement"]:
            if rule["series"] in both:
                file.write(f'[agreement.{rule["series"]}]\nrelative = {float(rule["relative"])!r}\n')
                file.write(f'absolute = {float(rule["absolute"])!r}\ntails = "{rule["tails"]}"\n')
                file.write(f'deterministic = {str(rule["deterministic"]).lower()}\n')


def verdicts(run):
    check = json.loads((run / "check.json").read_text())
    found = {}
    for p in check["points"]:
        point = {**{n.removeprefix("point_"): v for n, v in p["point"].items()}, "x_name": p["point"].get("x_name", p["x_name"])}
        found[(p["series"], tuple(sorted((n, str(v)) for n, v in point.items())), p["x"])] = p["verdict"]
    return found


def compare(first, second):
    a, b = verdicts(first), verdicts(second)
    # Points without a theory have no rule in the tables, and no verdict either way.
    differ = [k for k in a if a[k] != b.get(k) and a[k] != "NONE"]
    print(len(a), "points,", len(differ), "differ", differ[:3])
    return 1 if differ or not a else 0


if sys.argv[1] == "export":
    export(Path(sys.argv[2]), Path(sys.argv[3]))
else:
    sys.exit(compare(Path(sys.argv[2]), Path(sys.argv[3])))
