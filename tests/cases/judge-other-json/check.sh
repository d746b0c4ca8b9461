#!/usr/bin/env bash
# Lines of objects and columns are read as a list of objects is; other JSON is refused with what is expected.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
run 3 judge theory.csv lines.jsonl --margin 5% --name lines
says out "INCONCLUSIVE: 0 of 2 points"
run 3 judge theory.csv columns.json --margin 5% --name columns
tail -n +2 runs/lines-*/replicates.csv >lines.txt
tail -n +2 runs/columns-*/replicates.csv >columns.txt
same lines.txt columns.txt
printf '{"theory": {"x": 1}, "value": 2}' >other.json
run 2 judge theory.csv other.json --margin 5%
says err "JSON, expected a list of objects or an object a line"
finish
