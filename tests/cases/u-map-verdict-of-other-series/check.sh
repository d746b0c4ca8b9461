#!/usr/bin/env bash
# A series that depends on neither axis is left out of a map's verdicts, and what is undecided is named with the replicates it takes.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
# rule_error is measured at batches and learning rates of its own.
axes=(--x sweep.eta=0.02..0.2:2:log --y sweep.batch=2..8:2 --depth 0 --set model.sites=6 --set 'sim.steps=[1,2,5,10]' --replicates 60 --quiet --format svg)
run 0 map gauss-sgd "${axes[@]}" --name sgd
says out "left out   rule_error: equal at all places, they depend on neither axis (--series NAME chooses)"
grep -q "undecided .*rule_error" out && fail "a series that is left out is undecided"
python 0 - <<'PYTHON'
import glob, json
told = json.load(open(glob.glob("maps/sgd-*/map.json")[0]))
assert told["left_out"] == ["rule_error"], told["left_out"]
for cell in told["cells"]:
    points = json.load(open(glob.glob(f"maps/sgd-*/cells/{cell['run']}/check.json")[0]))["points"]
    worst = max(abs(p["difference"]) / p["margin"] for p in points if p["series"] != "rule_error")
    assert abs(cell["deviation"] / worst - 1) < 1e-12, cell
assert len({cell["deviation"] for cell in told["cells"]}) == 4
PYTHON
# One's own choice; what it leaves open is named, with what would decide it.
run 0 map gauss-sgd "${axes[@]}" --name sgd --resume --series rule_error
grep -Eq "^undecided  rule_error \(.*\) at 4 of 4 places: [0-9]+ replicates would decide$" out || fail "what is undecided is not named: $(cat out)"
says out "left out   "
run 2 map gauss-sgd "${axes[@]}" --name sgd --resume --series rule_eror
says err "expected a series that is compared"
finish
