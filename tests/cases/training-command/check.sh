#!/usr/bin/env bash
# A card's [theory.training]: a command that stays answers passes, and the theory meets the training of the same model.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
cp "$project"/examples/own/{training.toml,tanh_unit.py} .

run 0 run training.toml --name mine --quiet --set 'plot.formats=["svg"]' 
says out "AGREE: 15 of 15 points agree"
mine=$(echo runs/mine-*)
says "$mine/provenance.json" '"python"'
# The figure's line has no corners: the theory has steps between those that are simulated.
[ "$(awk -F, '$3 == "theory" && $4 == "loss"' "$mine/plots/own.csv" | wc -l)" -gt 40 ] || fail "the line of the loss has few places"

run 0 theory training.toml
cp out card.csv
cat >same.py <<'PY'
import csv
import json
import sys

places = {(p["name"], x): y for p in json.load(open(sys.argv[1]))["predictions"] for x, y in zip(p["x"], p["y"])}
rows = [row for row in csv.DictReader(line for line in open("card.csv") if not line.startswith("#"))]
assert len(rows) == 20 and all(places[row["series"], float(row["x"])] == float(row["mean"]) for row in rows)
PY
python 0 same.py "$mine/theory.json"
run 0 theory training.toml --set theory.training.hold=10
cp out card.csv
"$program" run training.toml --name held --quiet --replicates 2 --set theory.training.hold=10 >out 2>err
python 0 same.py "$(echo runs/held-*)/theory.json"
run 0 theory training.toml
cp out card.csv
# A learning rate 10 % off is found.
run 1 run training.toml --name wrong --quiet --set 'plot.formats=["svg"]' --set 'theory.training.rate="1.1 * eta"'
python 0 compare.py

# changed KEYS... MESSAGE: what is wrong with a card
changed() {
  local message=${!#} settings=()
  for key in "${@:1:$#-1}"; do settings+=(--set "$key"); done
  "$program" theory training.toml "${settings[@]}" >out 2>err
  [ $? -ne 0 ] || fail "accepted: $*"
  says err "$message"
}
changed 'theory.training.command=["python3","tanh_unit.py","trains"]' "pass 1"
changed 'theory.training.command=["sh","-c","read line; echo {{}}"]' 'expected {"losses": [...]'
changed 'theory.training.command=["sh","-c","read line; echo said >&2; exit 3"]' "ended with exit code 3 in pass 1"
changed 'theory.training.command=["sh","-c","read line; echo said >&2; exit 3"]' "said"
changed 'theory.training.command=["sleep","9"]' theory.training.max_seconds=0.1 "took longer than 0.1 s for pass 1"
changed 'theory.training.command=["/no/such/program"]' "a program that can be started"
changed 'theory.training.start=[0.5,0.3]' "ended with exit code 1 in pass 1"
changed 'theory.training.start=[0.5,0.3,0.0]' 'theory.training.weights=[0.5,0.5]' "2 numbers"
changed 'theory.training.observables.slope="slopes"' "a number 'slopes'"
changed 'theory.training.observables.slope="theta_3"' "theta_0 to theta_2"
changed 'theory.training.rate="etta"' "etta"
changed 'theory.training.batch="1.5"' "a whole number"
changed 'theory.training.revisit="twice"' "epoch"
changed 'theory.training.optimiser="adam"' 'theory.training.pairs=0' "pairs"
changed 'theory.training.times=[1.0]' 'theory.training.steps=[5]' "expected one of them"
changed 'theory.expression="1"' "expected one of"
sed -i '/^rate/d; /^batch = "/d' training.toml
changed theory.training.samples=10 "no 'rate'"
run 0 theory training.toml # gradient flow

# A command whose gradient is wrong, and one that falls silent.
sed 's/gradient\[1\] += inner \* x/gradient[1] += 1.1 * inner * x/' tanh_unit.py >wrong.py
changed 'theory.training.command=["python3","wrong.py","passes"]' "not the derivative of its losses"
# What lies in a run folder is not carried out, and `explore` starts no program.
run 2 run "$mine/config.resolved.toml" --out elsewhere
says err "is a run folder, whose commands are not carried out"
run 2 explore training.toml --out page
says err "a program would be started"
finish
