#!/usr/bin/env python3
"""What a workflow needs of the verdict that `attica run --json`, `judge --json` or `check --json` prints.

    attica run question.toml --json > verdict.json || test -s verdict.json
    python3 verdict.py verdict.json --markdown verdict.md --metrics metrics.json

Prints the summary; exit code 0 for AGREE, CLAIMS HOLD and NONE, 1 for DISAGREE, 3 for INCONCLUSIVE. Standard library only.
"""

import argparse
import json
import sys

CODES = {"DISAGREE": 1, "INCONCLUSIVE": 3}


def place(point):
    at = [f"{name}={value}" for name, value in point["point"].items()]
    at += [] if point["x_name"] == "none" else [f"{point['x_name']}={point['x']:g}"]
    return " ".join([point["series"], *at])


def finding(point):
    if point["verdict"] == "INCONCLUSIVE" and point.get("reason"):
        return point["reason"]
    sem = "" if point.get("sem") is None else f" +- {point['sem']:.2g}"
    return f"simulation {point['mean']:.5g}{sem}, theory {point['theory']:.5g}, margin {point['margin']:.2g}"


def open_points(record):
    """Points that do not agree, DISAGREE first."""
    found = [point for point in record["points"] if point["verdict"] in CODES]
    return sorted(found, key=lambda point: CODES[point["verdict"]])


def markdown(record):
    lines = [f"**{record['verdict']}**: {record['summary'].partition(': ')[2]}", ""]
    points = open_points(record)
    if points:
        lines += ["| point | verdict | |", "|---|---|---|"]
        lines += [f"| {place(point)} | {point['verdict']} | {finding(point)} |" for point in points[:20]]
        lines += [f"| and {len(points) - 20} more | | |"] if len(points) > 20 else []
    resolution = record.get("coarsest_resolution")
    if resolution is not None:
        lines += ["", f"Resolution: an error of {100 * resolution:.2g} % in the theory would have been detected."]
    return "\n".join(lines) + "\n"


def metrics(record):
    counts = record["counts"]
    numbers = {name: counts[name] for name in ("compared", "agree", "disagree", "inconclusive")}
    return {"verdict": record["verdict"], **numbers, "resolution": record.get("coarsest_resolution")}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("record", help="the JSON")
    parser.add_argument("--markdown", metavar="FILE", help="appends a summary, such as $GITHUB_STEP_SUMMARY")
    parser.add_argument("--metrics", metavar="FILE", help="writes numbers as JSON, for DVC and the like")
    parser.add_argument("--annotate", action="store_true", help="prints ::error and ::warning lines for GitHub")
    parser.add_argument("--exit-zero", action="store_true", help="exit code 0 whatever the verdict")
    given = parser.parse_args()
    try:
        with open(given.record, encoding="utf-8") as file:
            record = json.load(file)
        counts, verdict = record["counts"], record["verdict"]
    except (OSError, ValueError, KeyError) as error:
        print(f"{given.record}: no verdict of attica ({error!r}); did the command before it fail?", file=sys.stderr)
        return 2
    print(record.get("summary", verdict), f"({counts['compared']} points compared)")
    if given.annotate:
        for point in open_points(record):
            word = "error" if point["verdict"] == "DISAGREE" else "warning"
            print(f"::{word} title=attica {point['verdict']}::{place(point)}: {finding(point)}")
    if given.markdown:
        with open(given.markdown, "a", encoding="utf-8") as file:
            file.write(markdown(record))
    if given.metrics:
        with open(given.metrics, "w", encoding="utf-8") as file:
            json.dump(metrics(record), file, indent=2)
            file.write("\n")
    return 0 if given.exit_zero else CODES.get(verdict, 0)


if __name__ == "__main__":
    sys.exit(main())
