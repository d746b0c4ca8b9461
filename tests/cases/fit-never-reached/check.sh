#!/usr/bin/env bash
# Sizes that are never reached violate a bound that their caps exceed; growth that slows down keeps one.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
awk 'BEGIN { srand(1); print "Q,replicate,value,cap"; for (q = 2; q < 40; q *= 2) for (r = 0; r < 10; ++r) {
  n = 100 * q^2 * exp(0.2 * (rand() - 0.5)); print q "," r "," (n > 20000 ? "inf" : n) ",20000" } }' |
  cut -d, -f1-3 >q.csv
run 0 fit q.csv --x Q --exponent 2 --upper-bound
run 1 fit q.csv --x Q --exponent 1 --upper-bound
says out "never reached it"
# Nothing is reached from Q = 16 on: the largest finite value is where runs are known to have come.
awk -F, -v OFS=, 'NR > 1 && $1 >= 16 { $3 = "inf" } { print }' q.csv >never.csv
run 1 fit never.csv --x Q --exponent 0.5 --upper-bound
says out "count at their caps"
# Local slopes from 0.9 to 0.2: below 1 in every window.
awk 'BEGIN { srand(2); print "x,replicate,value"; for (x = 10; x < 700; x *= 2) for (r = 0; r < 12; ++r) \
  print x "," r "," x / (1 + x / 100) * exp(0.01 * (rand() - 0.5)) }' >slower.csv
run 0 fit slower.csv --exponent 1 --upper-bound
run 3 fit slower.csv --exponent 0.6
# Four sizes over a factor 4: what they leave open is said.
awk -F, 'NR == 1 || $1 <= 40' slower.csv >narrow.csv
run 0 fit narrow.csv
says out "span a factor 4, over which an exponent 0.1 off changes the values by 15 %"
finish
