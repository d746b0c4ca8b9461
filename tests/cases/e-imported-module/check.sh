#!/usr/bin/env bash
# What a Python script imports from beside it, and what `inputs` names, enters the hash and the provenance of a run.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
run 0 run own.toml --out runs --name s
first=$(echo runs/s-*)
says "$first/provenance.json" "/model.py"
/usr/bin/python3 - "$first/provenance.json" <<'EOF' || fail "versions of the command's Python"
import json, platform, sys
versions = json.load(open(sys.argv[1]))["command_versions"]["simulation"]
assert versions["python"] == platform.python_version(), versions
EOF
echo 'shift = 5.0' >model.py
run 1 run own.toml --out runs --name s --resume
[ "$(echo runs/s-* | wc -w)" -eq 2 ] || fail "the changed import made no run of its own"
# inputs: names and patterns; a pattern that matches nothing is refused.
mkdir lib
echo 1 >lib/a.dat
sed 's/^command = .*/&\ninputs = ["lib\/*.dat"]/' own.toml >inputs.toml
run 1 run inputs.toml --out runs --name i
echo 2 >lib/a.dat
run 1 run inputs.toml --out runs --name i
[ "$(echo runs/i-* | wc -w)" -eq 2 ] || fail "the changed input made no run of its own"
sed 's/lib/lob/' inputs.toml >none.toml
run 2 run none.toml --out runs
says err "lob/*.dat"
# Imports that nobody can follow are said to be unwatched.
sed -i 's/^from model import shift/import importlib; shift = importlib.import_module("model").shift/' sim.py
run 1 run own.toml --out runs --name warned
says err "'sim.py' uses importlib: files that it imports or reads by itself are not watched; name them in inputs"
run 1 run inputs.toml --out runs --name named
grep -q "not watched" err && fail "a warning beside inputs"
finish
