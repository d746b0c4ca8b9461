#!/usr/bin/env bash
# Values near the largest and the smallest number are fitted in another unit, or refused with that reason.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
sizes() { # sizes UNIT: y = UNIT (1 + 3/x^0.7), 12 replicates
  awk -v u="$1" 'BEGIN { srand(1); print "x,replicate,value"; for (x = 4; x < 200; x *= 2) for (r = 0; r < 12; ++r)
    printf "%d,%d,%.17g\n", x, r, u * (1 + 3 / x^0.7) * (1 + 0.01 * (rand() - 0.5)) }'
}
exponent() { /usr/bin/python3 -c 'import json, sys
f = json.load(open("out"))["exponents"][0]["fitted"]
u = float(sys.argv[1])
print(*("%.9g" % v for v in (f["exponent"], *f["interval95"], f["floor"] / u, f["prefactor"] / u, f["floor_interval95"][0] / u)))' "$1"; }
for unit in 1 1e300 1e-300; do
  sizes $unit >sizes.csv
  run 0 fit sizes.csv --floor --exponent -0.7 --json
  exponent $unit >$unit.txt
  run 0 fit sizes.csv --floor $unit --exponent -0.7 --json
  exponent $unit >>$unit.txt
done
same 1.txt 1e300.txt
same 1.txt 1e-300.txt

for unit in 1e300 1e-300; do
  awk -v u=$unit 'BEGIN { srand(2); print "T,N,replicate,value"; for (t = 4; t < 40; t *= 2) for (n = 4; n < 40; n *= 2)
    for (r = 0; r < 8; ++r) printf "%d,%d,%d,%.17g\n", t, n, r, u * (1 + 3 / t + 5 / n) * (1 + 0.01 * rand()) }' >joint.csv
  run 0 fit joint.csv --x T --x N --floor
  says out "whose squares no number holds: choose another unit"
  awk -v u=$unit 'BEGIN { srand(3); print "x,L,replicate,value"; for (L = 8; L < 100; L *= 2) for (k = -4; k < 5; ++k)
    for (r = 0; r < 4; ++r) printf "%g,%d,%d,%.17g\n", k / L^0.6, L, r, u * (1 + 0.1 * rand()) / (1 + exp(k)) }' >curves.csv
  run 2 fit curves.csv --collapse L
  says err "whose squares no number holds: choose another unit"
done

# An axis that no number spans.
for values in '1e308 -1e308' '1.7e308 -1.7e308'; do
  set -- $values
  printf 'x,value\n1,%s\n2,%s\n3,2\n' "$1" "$2" >wide.csv
  printf 'formats = ["svg"]\n[[panels]]\nlayers = [{csv = "wide.csv"}]\n' >figure.toml
  run 2 figure figure.toml
  says err "are farther apart than a number can say; expected another unit"
done
finish
