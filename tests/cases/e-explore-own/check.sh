#!/usr/bin/env bash
# A formula of one's own has a slider for every number of [model]; a theory by command is refused with the reason.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
cp "$project"/examples/own/formula.toml .
run 0 explore formula.toml --export page.html --grid 'model.noise=[0.25, 0.5]' --grid 'model.inputs={linear = [20, 60], n = 3}'
python 0 - <<'PYTHON'
import json, re
page = open("page.html", encoding="utf-8").read()
data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])
parameters = {p["key"]: p for p in data["study"]["parameters"]}
assert set(parameters) == {"model.inputs", "model.noise", "sweep.alpha"}, set(parameters)
assert float(parameters["model.inputs"]["value"]) == 40 and float(parameters["model.noise"]["value"]) == 0.5
assert len(data["theories"]) == 6
for k, (noise, inputs) in enumerate((s, n) for s in (0.25, 0.5) for n in (20, 40, 60)):
    (curve,) = data["theories"][k]["series"]
    assert curve["name"] == "test_error" and len(curve["y"]) > 50
    for alpha, y in zip(data["x"][curve["x"]], curve["y"]):
        assert abs(y - noise**2 * (alpha * inputs - 1) / (alpha * inputs - inputs - 1)) < 1e-12
PYTHON
sed '0,/^expression = /s/^expression = .*/command = ["awk", "BEGIN { print 1 }"]/' formula.toml >command.toml
run 2 explore command.toml --export no.html
says err "where it is an expression, not a command"
absent no.html
finish
