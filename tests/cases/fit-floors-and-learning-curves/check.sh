#!/usr/bin/env bash
# One floor with a term for each size; samples at which learning curves fall to a target.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
awk 'BEGIN { srand(3); print "N,D,replicate,value"; for (N = 1e6; N < 3e8; N *= 4) for (D = 1e7; D < 2e10; D *= 4)
  for (r = 0; r < 10; ++r) print N "," D "," r "," (1.7 + 400 / N^0.34 + 410 / D^0.28) * (1 + (rand() - 0.5) / 50) }' >loss.csv
run 0 fit loss.csv --x N --x D --floor --expect N=-0.34 --expect D=-0.28 --json
cat >check.py <<'EOF'
import json, sys
fit = json.load(open("out"))["joint"][0]
low, high = fit["floor_interval95"]
assert low < 1.7 < high and high - low < float(sys.argv[1]), (low, high)
for term, p, c in zip(fit["exponents"], (-0.34, -0.28), (400, 410)):
    low, high = term["interval95"]
    assert low < p < high and high - low < 0.15, (low, high)
    low, high = term["prefactor_interval95"]
    assert low < c < high, (low, high)
EOF
/usr/bin/python3 check.py 0.3 || fail "floor, exponents and prefactors"
run 0 fit loss.csv --x N --x D --floor 1.7 --expect N=-0.34
says out "floor 1.7 (given)"
# A run in 60 that is twice its value: the means are off, the robust fit is not.
awk -F, -v OFS=, 'NR > 1 && NR % 60 == 7 { $4 *= 2 } { print }' loss.csv >wild.csv
run 0 fit wild.csv --x N --x D --floor --robust --json
/usr/bin/python3 check.py 0.4 || fail "robust"
# y = d/n with 10 % noise falls to 0.1 at n = 10 d.
awk 'BEGIN { srand(2); print "d,n,replicate,value"; for (d = 4; d < 40; d *= 2) for (r = 0; r < 40; ++r)
  for (n = 10; n < 2000; n *= 1.5) print d "," n "," r "," d / n * (1 + 0.2 * (rand() - 0.5)) }' >curves.csv
run 0 fit curves.csv --along n --reach 0.1 --x d --exponent 1 --json
/usr/bin/python3 - out <<'EOF' || fail "samples to reach a target"
import json, sys
answer = json.load(open(sys.argv[1]))
fitted = answer["exponents"][0]["fitted"]
low, high = fitted["prefactor_interval95"]
assert low < 10.5 and high > 9.5 and high - low < 2, fitted
assert answer["reach"]["never"] == 0
EOF
run 0 bound curves.csv --along n --reach 0.1 --reach 0.2 --expression "1.3*d/eps" --probability 0.9
run 1 bound curves.csv --along n --reach 0.1 --reach 0.2 --expression "0.8*d/eps" --probability 0.9
run 2 fit curves.csv --along m --reach 0.1 --x d
run 2 fit curves.csv --along n --reach 100 --x d
says err "below every target"
run 2 fit curves.csv --along n --x d
says err "--reach EPS"
finish
