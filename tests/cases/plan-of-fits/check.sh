#!/usr/bin/env bash
# A plan from a pilot names sizes and replicates with which intervals have the width that was asked for.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
# n = 2 d/eps^2 with the sum of four uniform numbers as noise of ln n, standard deviation 0.35.
table() { # REPLICATES SEED
  awk -v n="$1" -v seed="$2" 'BEGIN { srand(seed); print "d,eps,replicate,value"
    for (d = 4; d < 40; d *= 2) for (e = 1; e > 0.1; e /= 2) for (r = 0; r < n; ++r)
      print d "," e "," r "," 2 * d / e^2 * exp(0.6 * (rand() + rand() + rand() + rand() - 2)) }'
}
table 10 1 >pilot.csv
run 0 plan pilot.csv --x d --x 1/eps --width 0.06 --power 0.99
says out "replicates each"
run 0 plan pilot.csv --x d --x 1/eps --width 0.06 --power 0.99 --json
n=$(/usr/bin/python3 - out <<'EOF'
import json, sys
designs = json.load(open(sys.argv[1]))["plans"][0]["designs"]
assert designs[0]["sizes"]["d"] == [4, 8, 16, 32] and designs[0]["combinations"] == 16, designs[0]
assert designs[0]["runs"] == 16 * designs[0]["replicates"]
assert designs[3]["replicates"] < designs[0]["replicates"], "wider grids take fewer"
print(designs[0]["replicates"])
EOF
) || fail "designs"
[ "$n" -gt 15 ] && [ "$n" -lt 300 ] || fail "$n replicates"
table "$n" 2 >planned.csv
run 0 fit planned.csv --x d --x 1/eps --json
/usr/bin/python3 - out <<'EOF' || fail "width"
import json, sys
for e in json.load(open(sys.argv[1]))["joint"][0]["exponents"]:
    width = e["interval95"][1] - e["interval95"][0]
    # The plan is of a typical table; widths differ by 3 % from one to the next.
    assert width <= 1.1 * 0.06, (e["name"], width)
EOF
# What decides an exponent follows from its distance to the edge of the tolerance.
run 0 plan pilot.csv --x d --x 1/eps --expect d=1 --expect 1/eps=2 --upper-bound
says out "wanted"
# Floors, and the constant of a bound.
awk 'BEGIN { srand(4); print "x,replicate,value"; for (x = 10; x < 3000; x *= 2) for (r = 0; r < 5; ++r) \
  print x "," r "," (0.2 + 3 / x^0.6) * (1 + (rand() - 0.5) / 20) }' >loss.csv
run 0 plan loss.csv --floor --width 0.01
says out "floor"
table 100 3 >many.csv
run 0 plan many.csv --expression "C*d/eps^2" --constant C --probability 0.9 --width 10%
says out "at 16 of 16 combinations of sizes"
if grep -q "do not set the constant" out; then fail "there are no other combinations"; fi
awk -F, -v OFS=, 'NR > 1 && $1 == 4 { $4 /= 3 } { print }' many.csv >uneven.csv
run 0 plan uneven.csv --expression "C*d/eps^2" --constant C --probability 0.9 --width 10%
says out "at 12 of 16 combinations of sizes"
says out "do not set the constant"
run 0 plan many.csv --expression "100*d/eps^2" --probability 0.9
says out "HOLDS"
# What cannot be planned is refused by name.
run 2 plan pilot.csv --x d --x 1/eps
says err "a plan needs an aim"
run 2 plan pilot.csv --x d --x 1/eps --width 0
says err "--width"
run 2 plan gauss-lambda --width 0.1
says err "neither a table nor the folder of a run"
run 2 plan many.csv --expression "C*d/eps^2" --constant C --width 10%
says err "--probability P below 1"
run 2 plan many.csv --expression "C*d/eps^2" --constant C --probability 0.9
says err "--width W"
table 3 5 >few.csv
run 2 plan few.csv --x d --x 1/eps --width 0.1
says err "expected 8 or more"
run 3 plan few.csv --expression "C*d/eps^2" --constant C --probability 0.9 --width 10%
says out "expected 36 replicates"
finish
