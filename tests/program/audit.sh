#!/usr/bin/env bash
# Published tables are judged again, each against the expected verdict.   audit.sh PROGRAM PROJECT_FOLDER
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# What is shipped comes out as its files say, in seconds.
run 0 audit "$project/examples/audits" --out shipped
silent err
says out "6 of 6 as expected"
says out "a finding about the table, not about the theorem"
says out "the number of replicates is unknown: 2 are assumed, the weakest reading"
for line in "AGREE         AGREE " "DISAGREE      DISAGREE " "INCONCLUSIVE  INCONCLUSIVE "; do says out "$line"; done

# A small one, exact: y = 2 x^2, simulated at x = 1.5 and 2.5 between the theory's 1, 2, 3, 4.
mkdir -p audits/square
printf 'x,value\n1,2\n2,8\n3,18\n4,32\n' >audits/square/theory.csv
printf 'x,mean,sd\n1.5,4.52,0.02\n2.5,12.49,0.02\n' >audits/square/simulation.csv
cat >audits/square/audit.toml <<'TOML'
[audit]
claim = "y is 2 x^2."
source = "Nobody: Squares (2026)"
used = "Table 1"
expected = "AGREE"

[theory]
file = "theory.csv"
interpolate = "linear"

[simulation]
file = "simulation.csv"
n = "10"

[agreement.y]
relative = 0.02
TOML
run 0 audit audits
says out "1 of 1 as expected"
says out "is interpolated linearly where the simulation has other x"
# The line's error, 2 * 0.5 * 0.5 here, is in numerical_error; the verdict is that of judge on the same tables.
run 0 judge audits/square/theory.csv audits/square/simulation.csv --margin 2% --interpolate linear --n 10 --json --name j
grep -o '"numerical_error": [0-9.]*' out | sort -u >errors
[ "$(cat errors)" = '"numerical_error": 0.5' ] || fail "numerical_error is $(cat errors)"
says out '"interpolated": 2'
run 2 judge audits/square/theory.csv audits/square/simulation.csv --margin 2% --n 10 --name without
says err "the nearest x of the theory is 1"

# A folder that is no entry is told of, and so is a series that no margin is for.
mkdir audits/cube
cp audits/square/audit.toml audits/cube/Audit.toml
sed 's/^/y,/; 1s/y,/series,/; $a z,1,5' audits/square/theory.csv >both.csv
cp audits/square/theory.csv kept.csv
mv both.csv audits/square/theory.csv
cp audits/square/simulation.csv kept-simulation.csv
sed -i 's/^/y,/; 1s/y,/series,/; $a z,1,7,0.02' audits/square/simulation.csv
run 0 audit audits
says err "warning: 'audits/cube' has no audit.toml and is left out"
says out "not compared, as no [agreement.NAME] names them: series z"
rm -r audits/cube
mv kept.csv audits/square/theory.csv
mv kept-simulation.csv audits/square/simulation.csv

# Unknown n: the weakest reading, which decides nothing here.
sed -i 's/^n = .*/n = "unknown"/; s/0.02$/0.001/' audits/square/audit.toml
sed -i 's/,0.02$/,0.4/' audits/square/simulation.csv
run 1 audit audits
says out "INCONCLUSIVE  AGREE "
says out "not as expected: INCONCLUSIVE"
says out "0 of 1 as expected"

# A wrong expected verdict is found, and the record follows its schema.
sed -i 's/^expected = .*/expected = "DISAGREE"/' audits/square/audit.toml
run 1 audit audits --json
one_json out
says out '"schema": "attica/audit/1"'
says out '"as_expected": false'
cp out audit.json
run 0 schema audit
cp out schema.json
python3 -c 'import jsonschema' 2>/dev/null && {
  python3 - <<'PYTHON' || fail "the record is not what its schema says"
import json
import jsonschema
schema = json.load(open("schema.json"))
jsonschema.Draft202012Validator.check_schema(schema)
jsonschema.Draft202012Validator(schema).validate(json.load(open("audit.json")))
PYTHON
}

# What lacks a source, a margin or a table is refused where it stands, all at once; a command is not started.
sed -i '/^source/d; /^\[agreement/,$d' audits/square/audit.toml
run 2 audit audits
says err "audits/square/audit.toml:2:1: error: [audit] has no 'source'; expected authors, year, arXiv identifier"
says err "audits/square/audit.toml:2:1: error: no margin; expected [agreement.SERIES]"
mkdir audits/command
sed 's/^file = "simulation.csv"/command = ["touch", "started"]/; s/^used/source = "Nobody"\nused/' audits/square/audit.toml \
  >audits/command/audit.toml
sed -i '/^n = /d' audits/command/audit.toml
run 2 audit audits
says err "audits/command/audit.toml:12:1: error: an audit runs no commands"
absent started
sed -i 's/^expected = .*/expected = "RIGHT"/' audits/square/audit.toml
run 2 audit audits
says err "audits/square/audit.toml:4:1: error: "
mkdir empty
run 2 audit empty
says err "expected empty/NAME/audit.toml"
run 2 audit nowhere
says err "'nowhere' is no folder"
finish
