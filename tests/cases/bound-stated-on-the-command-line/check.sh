#!/usr/bin/env bash
# A bound stated by options has one verdict over all sizes, and an unknown constant an interval; inf violates it.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
# The 0.9-quantile of n is 2.41 d/eps^2: 2 exp(q), q the 0.9-quantile of a triangular law on (-1/3, 1/3).
awk 'BEGIN { srand(1); print "d,eps,replicate,value"; for (d = 4; d < 40; d *= 2) for (e = 1; e > 0.1; e /= 2)
  for (r = 0; r < 200; ++r) print d "," e "," r "," 2 * d / e^2 * exp((rand() + rand() - 1) / 3) }' >b.csv
run 0 bound b.csv --expression "3*d/eps^2" --probability 0.9
says out "HOLDS"
says out "0.9-quantile"
run 1 bound b.csv --expression "2*d/eps^2" --probability 0.9 --json
says out '"verdict": "VIOLATED"'
run 1 bound b.csv --expression "5*d^0.7/eps^2" --probability 0.9
run 0 bound b.csv --expression "1.1*d/eps^2" --direction lower --probability 0.9
run 1 bound b.csv --expression "2*d/eps^2" --direction lower --probability 0.9
run 0 bound b.csv --expression "C*d/eps^2" --constant C --probability 0.9 --json
/usr/bin/python3 - out <<'EOF' || fail "constant"
import json, sys
answer = json.load(open(sys.argv[1]))
low, high = answer["constant"]["interval95"]
assert answer["verdict"] == "HOLDS" and low < 2.41 < high and high - low < 0.4, answer["constant"]
assert {g["name"] for g in answer["growth"]} == {"d", "1/eps"}
EOF
run 0 bound b.csv --expression "C*d/eps^2" --constant C --direction lower --probability 0.9
says out "largest C"
# Samples that grow as d^1.3 violate d/eps^2 whatever the constant; one that grows faster is kept.
awk -F, -v OFS=, 'NR > 1 { $4 *= $1^0.3 } { print }' b.csv >steep.csv
run 1 bound steep.csv --expression "C*d/eps^2" --constant C --probability 0.9
says out "VIOLATED"
run 0 bound steep.csv --expression "C*d^1.5/eps^2" --constant C --probability 0.9
# Curves that differ in a word are judged together: one that grows too fast violates the bound.
awk -F, -v OFS=, 'NR == 1 { print $0, "model"; next } { print $0, "plain" }' b.csv >two.csv
awk -F, -v OFS=, 'NR > 1 { print $0, "other" }' b.csv >>two.csv
run 0 bound two.csv --expression "C*d/eps^2" --constant C --probability 0.9
says out "d (model=other)"
awk -F, -v OFS=, 'NR > 1 && $5 == "other" { $4 *= $1^0.3 } { print }' two.csv >mixed.csv
run 1 bound mixed.csv --expression "C*d/eps^2" --constant C --probability 0.9
# A replicate in 20 never reached its target: no constant holds with probability 0.99, one does with 0.9.
awk -F, -v OFS=, 'NR > 1 && $3 % 20 == 7 { $4 = "inf" } { print }' b.csv >inf.csv
run 0 bound inf.csv --expression "4*d/eps^2" --probability 0.9
run 1 bound inf.csv --expression "1000*d/eps^2"
run 1 bound inf.csv --expression "1000*d/eps^2" --probability 0.99
# One replicate a size decides nothing, and has no interval of width zero.
awk -F, 'NR == 1 || $3 == 0' b.csv >one.csv
run 3 bound one.csv --expression "4*d/eps^2" --probability 0.9
run 3 bound one.csv --expression "C*d/eps^2" --constant C --probability 0.9
says out "inf]"
run 2 bound b.csv --expression "exp(C)*d" --constant C
says err "linear in C"
run 2 bound b.csv --expression "2*d/eps^2" --constant C
says err "--constant"
run 2 bound b.csv --expression "2*k"
says err "no name 'k'"
run 2 bound b.csv --probability 0.9
says err "--expression E"
finish
