#!/usr/bin/env bash
# Equally spaced values have the decimals of their ends and step, and the page opens without a remark on rounding.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
run 0 explore gauss-double-descent --export page.html --grid 'model.rho={linear = [0.1, 0.9], n = 9}' --grid 'model.sites=[20, 60]'
python 0 - <<'PYTHON'
import json, re
page = open("page.html", encoding="utf-8").read()
data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])
assert data["grid"][0]["values"] == [f"0.{k}" for k in range(1, 10)], data["grid"]
# The start of the page is a computed value, to the character.
start = {p["key"]: p["value"] for p in data["study"]["parameters"]}
assert start["model.rho"] in data["grid"][0]["values"] and start["model.sites"] in data["grid"][1]["values"], start
# Names of parameters are written as in figures.
assert data["study"]["letters"]["lambda"] == "λ"
assert "1e-9 *" in page
PYTHON
# The same rule wherever a list is equally spaced.
run 0 theory gauss-double-descent --set 'sweep.alpha={linear = [0.1, 0.9], n = 9}' --set 'sweep.lambda=[0.1]'
says out ",0.3,"
grep -q "0.30000000000000004\|0.7000000000000001" out && fail "a rounding error is printed"
finish
