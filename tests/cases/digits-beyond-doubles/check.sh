#!/usr/bin/env bash
# Names of digits that no double holds are refused as coordinates and clusters: two of them would become one.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
rows() { for r in 0 1 2 3 4 5 6 7 8 9; do echo "1,$1,$r,2.0$r"; done; }
{ echo x,run,replicate,value; rows 9007199254740992; } >simulation.csv
printf 'x,run,value\n1,9007199254740993,2\n' >theory.csv
run 2 judge theory.csv simulation.csv --margin 10%
says err "theory.csv:2:3: error: run = '9007199254740993'"
says err "number these from 0, or begin them with a letter"
# As the message says.
for file in theory simulation; do sed 's/,9007/,r9007/' $file.csv >letters-$file.csv; done
run 2 judge letters-theory.csv letters-simulation.csv --margin 10%
says err "nothing can be compared"
# Clusters: ten numbers of 64 bits would be one cluster, or a few.
{
  echo x,data,replicate,value
  for d in 0 1 2 3 4 5 6 7 8 9; do echo "1,115292150460684697$d,$d,2.0$d"; done
} >clusters.csv
printf 'x,value\n1,2\n' >plain.csv
run 2 judge plain.csv clusters.csv --margin 10% --cluster data
says err "data = '1152921504606846970'"
sed 's/,1152921504606/,c1152921504606/' clusters.csv >named.csv
run 0 judge plain.csv named.csv --margin 10% --cluster data --independent
# What a double holds is a number, however long.
sed 's/9007199254740993/1152921504606846976/' theory.csv >power.csv
{ echo x,run,replicate,value; rows 1152921504606846976.0; } >of_power.csv
run 0 judge power.csv of_power.csv --margin 10% --independent --name power
python 0 - <<'END_OF_PYTHON' || fail "$(cat err)"
import attica

rows = [{"x": 1, "run": "9007199254740992", "replicate": r, "value": 2 + r / 100} for r in range(10)]
try:
    attica.judge(theory=[{"x": 1, "run": "9007199254740993", "value": 2}], simulate=rows, margin=0.1, out=None)
    raise SystemExit("two names of digits became one coordinate")
except attica.Error as error:
    assert "beyond 2^53" in str(error), error
END_OF_PYTHON
finish
