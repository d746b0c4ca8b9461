#!/usr/bin/env bash
# A series of a user's file that is marked as a control is judged apart: in no count, named by a line, in check.json and report.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
cat >draw.py <<'PYTHON'
import random
import sys

rng = random.Random(sys.argv[1])
print("series,x,value")
for x in (1, 2):
    print(f"y,{x},{x + rng.gauss(0, 0.1)!r}\nnoise,{x},{sum(rng.gauss(0, 1) ** 2 for _ in range(16)) / 16!r}")
PYTHON
cat >question.toml <<'TOML'
[sweep]
x = [1.0, 2.0]
[theory]
expression = {y = "x", noise = "variance"}
[model]
variance = 1.0
[simulation]
command = ["python3", "draw.py", "{seed}"]
[agreement.y]
relative = 0.1
[agreement.noise]
relative = 0.6
[sim]
replicates = 100
[[series]]
name = "noise"
meaning = "mean of the squares of 16 draws of the noise"
control = true
TOML
run 0 run question.toml --out runs --name right --seed 2 --quiet
says out "AGREE: 2 of 2 points agree"
says out "controls agree: noise"
says runs/right-*/report.html "control noise"
python 0 - <<'PYTHON'
import glob, json
check = json.load(open(glob.glob("runs/right-*/check.json")[0]))
assert check["counts"]["compared"] == 2 and {p["series"] for p in check["points"]} == {"y"}
(control,) = check["controls"]
assert control["series"] == "noise" and control["compared"] == 2 and control["worst"]["theory"] == 1
assert [r["series"] for r in check["resolution"]] == ["y"]
PYTHON
run 1 run question.toml --out runs --name wrong --seed 2 --quiet --set model.variance=3
says out "DISAGREE: 2 of 2 points agree"
says out "control noise: DISAGREE"
says out "control DISAGREE: 0 of 2 points agree; noise at x="
sed 's/control = true/contrl = true/' question.toml >typo.toml
run 2 run typo.toml --dry-run
says err "did you mean 'control'?"
finish
