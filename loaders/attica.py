"""Reads the run folders of attica. Standard library only; rows go straight into pandas.DataFrame(rows).

    import attica
    run = attica.find("mine")
    for row in attica.results(run):
        print(row["series"], row["kind"], row["x"], row["mean"], row["sem"])
"""

import csv
import json
import re
from pathlib import Path

_WORDS = {"study", "series", "kind", "x_name"}
_COUNTS = {"n", "replicate"}


def find(name, out="runs"):
    """The newest run folder called `name` below `out`, `name-` and the eight digits of its hash; `name` may also be the
    path of a run."""
    if (Path(name) / "run.json").exists():
        return Path(name)
    folders = Path(out).iterdir() if Path(out).is_dir() else []
    wanted = re.compile(re.escape(str(name)) + "-[0-9a-f]{8}")
    runs = [folder for folder in folders if wanted.fullmatch(folder.name) and (folder / "run.json").exists()]
    if not runs:
        raise FileNotFoundError(f"no run '{name}' in '{out}'")
    return max(runs, key=lambda run: (run / "run.json").stat().st_mtime)


def results(run):
    """Theory and simulation: dicts with study, series, kind ("theory" or "sim"), the coordinates of the point, x_name,
    x, mean, sem, sd, n. Where there is none (the spread of a theory, say) the value is None."""
    return _table(Path(run) / "results.csv")


def replicates(run):
    """Every replicate: dicts with study, series, the coordinates of the point, x_name, x, replicate (from 0), value."""
    return _table(Path(run) / "replicates.csv")


def record(run, name="check"):
    """A JSON record as dicts and lists: "check" (the verdict, point by point), "theory" (with tolerances and
    diagnostics), "run" or "provenance"."""
    return json.loads((Path(run) / f"{name}.json").read_text(encoding="utf-8"))


def _table(path):
    with open(path, newline="", encoding="utf-8") as file:
        return [{key: _value(key, text) for key, text in row.items()} for row in csv.DictReader(file)]


def _value(key, text):
    if text == "":
        return None
    if key in _WORDS:
        return text
    try:
        return int(text) if key in _COUNTS else float(text)
    except ValueError:  # a coordinate that is a word
        return text
