#!/usr/bin/env bash
# Copies of a sequence are on one side of the split: context does not help where no sites are coupled.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
run 1 run potts-alignment --set 'model.file="copies.fa"' --name copies --out . --quiet
/usr/bin/python3 - <<'END' || fail "the values are others"
import json
claims = {c["name"]: c for c in json.load(open(__import__("glob").glob("copies-*/check.json")[0]))["claims"]}
for name in ("factored-uses-context", "general-uses-context"):
    assert claims[name]["verdict"] == "DISAGREE", claims[name]
END
says copies-*/theory.json '"groups_of_relatives":40'
finish
