#!/usr/bin/env bash
# A simulation that is compared with its own numbers, in another order or format, and a theory whose stated errors admit
# anything.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
awk 'BEGIN { srand(7); print "x,replicate,value"
  for (x = 1; x <= 3; ++x) for (r = 0; r < 45; ++r) printf "%d,%d,%.9f\n", x, r, x * (1 + 0.01 * (rand() + rand() - 1)) }' >once.csv
awk -F, -v OFS=, 'NR > 1 { $2 += 100 } { print }' once.csv >renumbered.csv
(head -n 1 once.csv && tail -n +2 once.csv | tac) >turned.csv
awk -F, 'NR > 1 { printf "{\"x\": %s, \"replicate\": %s, \"value\": %s}\n", $1, $2, $3 }' once.csv >once.jsonl
/usr/bin/python3 - <<'PY'
import csv, math
by = {}
for row in csv.DictReader(open("once.csv")):
    by.setdefault(row["x"], []).append(float(row["value"]))
with open("means.csv", "w") as out:
    print("x,value", file=out)
    for x, found in by.items():
        print(x, repr(math.fsum(found) / len(found)), sep=",", file=out)
PY
for theory in renumbered.csv turned.csv once.jsonl means.csv; do
  run 0 judge "$theory" once.csv --margin 5% --independent --name "of-${theory%.*}"
  says out "theory and simulation are equal at every point, to the last digit: is one made of the other?"
done
says runs/of-means-*/check.json '"equal_to_theory": true'
printf 'x,value\n1,1\n2,2\n3,3\n' >theory.csv
run 0 judge theory.csv once.csv --margin 5% --independent --name other
! grep -q "equal at every point" out || fail "a theory of its own: $(cat out)"
# Shares may be equal to a theory of one digit.
awk 'BEGIN { print "x,replicate,value"; for (x = 1; x <= 3; ++x) for (r = 0; r < 40; ++r) print x "," r "," r % 2 }' >shares.csv
printf 'x,value\n1,0.5\n2,0.5\n3,0.5\n' >half.csv
"$program" judge half.csv shares.csv --margin 90% --independent --name shares >out 2>err
! grep -q "equal at every point" out || fail "shares: $(cat out)"

printf 'x,value,numerical_error\n1,1.6,1e9\n2,2,0\n3,3,0\n' >wide.csv
run 0 judge wide.csv once.csv --margin 5% --independent --name wide
says out "at 1 of 3 points the error that the theory states is larger than its value"
printf 'x,value,finite_size\n1,1,0.1\n2,2,0\n3,3,0\n' >usual.csv
run 0 judge usual.csv once.csv --margin 5% --independent --name usual
! grep -q "larger than its value" out || fail "a usual error: $(cat out)"

# Options that change nothing about what is done.
awk -F, -v OFS=, 'NR == 1 { print $0, "seed"; next } { print $0, int($2 / 3) }' once.csv >seeds.csv
run 3 bound seeds.csv --expression '2*x' --cluster seed
says out "of 15"
run 2 bound once.csv --expression '2*x' --match 1e-3
says err "--match changes nothing"
run 2 bound once.csv --expression '2*x' --independent
says err "--independent changes nothing"

printf 'formats = ["svg"]\n[[panels]]\nresiduals = true\nlayers = [{csv = "theory.csv"}]\n' >figure.toml
run 0 figure figure.toml
says err "none are drawn"
finish
