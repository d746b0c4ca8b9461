#!/usr/bin/env bash
# A value below the range of doubles is 0, with E as with e, in every reader of numbers, and a remark says so.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
sed 's/1E-400/1e-400/' capital.csv >lower.csv
run 0 judge theory.csv capital.csv --margin 5% --name capital --json
grep -v '"run"' out >first
grep -q '"failed": 0' first || fail "a failed replicate: $(cat first)"
run 0 judge theory.csv lower.csv --margin 5% --name capital --out lower --json
grep -v '"run"' out >second
same first second
run 0 judge theory.csv small.csv --margin 5% --name small
printf '1E-400,1\n-1E-400,2\n' >matrix.csv
run 0 measure matrix.csv
says out "frobenius_norm     2.236"
finish
