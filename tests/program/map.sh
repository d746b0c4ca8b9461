#!/usr/bin/env bash
# Maps of validity: files, figure, resumption, the same on any number of threads.   map.sh PROGRAM PROJECT_FOLDER
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
command -v gnuplot >/dev/null || {
  echo "SKIPPED: no gnuplot here" >&2
  exit 77
}
# Where online SGD is stable: an error beyond, a verdict before.
axes="--x sweep.eta=0.02..2:3:log --y model.rho=0.1..0.9:3"
small="--set model.sites=6 --set sweep.batch=[2] --set sim.steps=[1,2,5] --replicates 30"

run 0 map gauss-sgd $axes $small --depth 1 --dry-run
says out "places      9, and up to 16 along edges"
absent maps

# Ended by the clock it keeps what it has; resumed it is the same map as one that was never stopped.
run 75 map gauss-sgd $axes $small --depth 1 --max-time 0 --name stopped --quiet
says err "run again with --resume"
run 0 map gauss-sgd $axes $small --depth 1 --resume --name stopped --quiet --threads 1 --format svg
run 0 map gauss-sgd $axes $small --depth 1 --name whole --quiet --threads 3 --format svg,pdf,png,tex
stopped=$(echo maps/stopped-*) whole=$(echo maps/whole-*)
same "$stopped/map.csv" "$whole/map.csv"
for file in map.csv map.json plots/map.{svg,pdf,png,tex,gp,csv}; do present "$whole/$file"; done
says "$whole/plots/map.svg" "ERROR"
says "$whole/map.csv" "sweep.eta,model.rho,verdict,deviation,z,resolution,run,message"
says "$whole/map.csv" "eta <"
python3 - "$whole" <<'EOF' || fail "map.json and map.csv do not belong together"
import csv, json, pathlib, sys
folder = pathlib.Path(sys.argv[1])
told = json.load(open(folder / "map.json"))
rows = list(csv.DictReader(open(folder / "map.csv", encoding="utf-8")))
assert told["complete"] and len(rows) == len(told["cells"]) > 9
assert sum(told["counts"].values()) == len(rows)
for row, cell in zip(rows, told["cells"]):
    assert float(row["sweep.eta"]) == cell["x"] and float(row["model.rho"]) == cell["y"]
    assert row["verdict"] == cell["verdict"]
    if row["run"]:
        check = json.load(open(folder / "cells" / row["run"] / "check.json"))
        assert check["verdict"] == row["verdict"]
        worst = max(abs(p["difference"]) / p["margin"] for p in check["points"])
        assert float(row["deviation"]) == worst, (row, worst)
EOF
# A place is an ordinary run: the later verbs know it.
one=$(ls -d "$whole"/cells/cell-* | head -1)
"$program" check "$one" >out 2>err
grep -q "AGREE\|INCONCLUSIVE" out || fail "no verdict on $one"
run 0 plot "$one" --format svg
cp -r "$whole" before
run 0 map gauss-sgd $axes $small --depth 1 --name whole --resume --json --quiet --format svg
python3 -m json.tool out >/dev/null || fail "--json is no JSON"
same "$whole/map.csv" before/map.csv
newer=$(find "$whole/cells" -name '*.part' -newer before/map.csv)
[ -z "$newer" ] || fail "run again: $newer"
run 5 map gauss-sgd $axes $small --depth 1 --name whole --quiet
says err "--resume continues"

# What is no map.
run 2 map gauss-sgd --x model.rho=0.1..0.9
says err "--y is missing"
run 2 map gauss-sgd --x model.rho=0.1..0.9 --y model.rho=0..0.5
says err "another parameter"
run 2 map gauss-sgd --x model.rho=0.9..0.1 --y sweep.eta=0.01..0.1
says err "LOW < HIGH"
run 2 map gauss-sgd --x model.rho=0.1..0.9 --y sweep.eta=-1..0.1
says err "--y sweep.eta=[-1.0]"
run 2 map gauss-sgd --x model.covariance=0.1..0.9 --y sweep.eta=0.01..0.1
says err "a text or a switch"
run 2 map gauss-sgd --x model.roh=0.1..0.9 --y sweep.eta=0.01..0.1
says err "did you mean 'model.rho'?"
run 2 map gauss-sgd --x model.sites=4.5..8 --y sweep.eta=0.01..0.1
says err "whole numbers"
run 2 map gauss-sgd --x model.sites=4..6:5 --y sweep.eta=0.01..0.1
says err "fewer than 5 places"
run 2 map gauss-sgd $axes --depth 7
says err "--depth"
finish
