#!/usr/bin/env bash
# Quantiles with censored replicates; exponents of several sizes as one bound; several quantiles give log(1/delta).
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
# n = 3 d/eps log(1/u), u uniform: the P-quantile is 3 d/eps log(1/(1 - P)).
awk 'BEGIN { srand(4); print "d,eps,replicate,value"; for (d = 4; d < 40; d *= 2) for (e = 1; e > 0.1; e /= 2)
  for (r = 0; r < 200; ++r) print d "," e "," r "," (r == 13 ? "inf" : -3 * d / e * log(1 - rand())) }' >n.csv
run 0 fit n.csv --x d --x 1/eps --quantile 0.9 --expect d=1 --expect 1/eps=1 --upper-bound --tolerance 0.15
says out "0.9-quantile"
says out "the bound in all sizes together: within bound"
run 1 fit n.csv --x d --x 1/eps --quantile 0.9 --expect d=0.7 --expect 1/eps=1 --upper-bound --tolerance 0.15 --json
says out '"verdict": "violated"'
run 0 fit n.csv --x d --x 1/eps --quantile 0.2 --quantile 0.5 --quantile 0.8 --quantile 0.95 --expect 'log(1/delta)=1' --tolerance 0.2
says out "prediction 1 of log(1/delta): agrees"
run 0 fit n.csv --x d --quantile 0.9 --json
/usr/bin/python3 - out <<'EOF' || fail "quantiles"
import json, sys
for e in json.load(open(sys.argv[1]))["exponents"]:
    fitted = e["fitted"]
    assert fitted["quantile"] == 0.9 and fitted["prefactor"] > 0 and len(fitted["prefactor_interval95"]) == 2
    assert all(m["censored"] == 1 and m["used"] and m["interval95"][0] < m["median"] < m["interval95"][1] for m in e["medians"])
EOF
# 10 replicates are too few for a 0.9-quantile.
awk -F, 'NR == 1 || $3 < 10' n.csv >few.csv
run 3 fit few.csv --x d --quantile 0.9 --exponent 1
says out "fewer than 36 seeds"
# An exponent that every window puts beyond the tolerance on one side is violated.
awk 'BEGIN { srand(1); print "w,replicate,value"; for (w = 64; w < 2000; w *= 2) for (r = 0; r < 12; ++r)
  print w "," r "," w^-0.28 * (w == 64 ? 1.02 : 1) * (1 + (rand() - 0.5) / 100) }' >w.csv
run 1 fit w.csv --x w --exponent 0
says out "(depends on the window)"
run 0 fit w.csv --x w --exponent -0.28
run 3 fit w.csv --x w --exponent -0.185
awk -F, 'NR == 1 || $1 < 300' w.csv >narrow.csv
run 0 fit narrow.csv --x w
says out "the sizes span a factor 4"
run 2 fit w.csv --x w --quantile 1
says err "--quantile"
run 2 fit w.csv --x w --floor --quantile 0.9
run 2 fit w.csv --x w --robust
finish
