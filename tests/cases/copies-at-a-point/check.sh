#!/usr/bin/env bash
# Replicates that are others again at some points only: rows read twice there, or seeds of a few values. Quantities of few
# values are none.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
printf 'x,value\n1,1\n2,2\n3,3\n' >theory.csv
awk 'BEGIN { srand(7); print "x,replicate,value"
  for (r = 0; r < 24; ++r) for (x = 1; x <= 3; ++x) printf "%d,%d,%.9f\n", x, r, x * (1 + 0.01 * (rand() + rand() - 1)) }' >once.csv
run 0 judge theory.csv once.csv --margin 5% --independent --name once
! grep -q 'equal another one' out || fail "copies among different replicates: $(cat out)"
awk -F, -v OFS=, '{ print } NR > 1 && $1 == 1 { print $1, $2 + 24, $3 }' once.csv >part.csv
run 0 judge theory.csv part.csv --margin 5% --independent --name part
says out "24 of 48 replicates of y at x=1 equal another one there, to the last digit"
says runs/part-*/check.json '"place": "y at x=1"'

# Every point has its own seed, of which eight are left.
cat >simulate.py <<'PY'
import random
import sys

random.seed(int(sys.argv[2]) % 8)
print("value", float(sys.argv[1]) * random.gauss(1, 0.01), sep="\n")
PY
cat >own.toml <<'TOML'
x = "a"
[sweep]
a = [1.0, 2.0]
[theory]
expression = "a"
[simulation]
command = ["python3", "simulate.py", "{a}", "{seed}"]
[agreement.y]
relative = 0.05
[sim]
replicates = 40
TOML
run 0 run own.toml --name few
says out "of 40 replicates of y at a="
says out "are seeds used twice"

# A file read twice in a fit, and for a bound.
awk -F, -v OFS=, '{ print } NR > 1 { for (k = 1; k < 4; ++k) print $1, $2 + 24 * k, $3 }' once.csv >four.csv
run 0 bound four.csv --expression '1.1*x'
says err "warning: four.csv: 72 of 96 replicates equal another one at every point"
"$program" fit four.csv --exponent 1 >out 2>err
says err "warning: four.csv: 72 of 96 replicates equal another one at every point"
run 3 bound once.csv --expression '1.1*x'
! grep -q equal err || fail "copies: $(cat err)"

# Counts, shares and steps of a grid are equal by chance.
awk 'BEGIN { srand(3); print "x,replicate,value"
  for (r = 0; r < 60; ++r) for (x = 1; x <= 3; ++x) { n = 0; for (k = 0; k < 100; ++k) n += rand() < 0.5
    printf "%d,%d,%.17g\n", x, r, x * n / 50 } }' >shares.csv
"$program" judge theory.csv shares.csv --margin 20% --name shares >out 2>err
says out "3 of 3 points"
! grep -q 'equal another one' out || fail "copies among shares: $(cat out)"
awk -F, -v OFS=, 'NR > 1 { $3 = sprintf("%.3f", $3) } { print }' once.csv >rounded.csv
run 0 judge theory.csv rounded.csv --margin 5% --independent --name rounded
! grep -q 'equal another one' out || fail "copies among rounded values: $(cat out)"
finish
