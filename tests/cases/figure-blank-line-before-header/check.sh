#!/usr/bin/env bash
# What judge reads as a simulation is drawn as one: three points with error bars, no line of theory.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
run 0 figure figure.toml
awk -F, 'NR > 1 && /theory/ { exit 1 }' figures/figure.csv || fail "lines of theory: $(cat figures/figure.csv)"
[ "$(grep -c ',sim' figures/figure.csv)" -eq 3 ] || fail "not three points: $(cat figures/figure.csv)"
sed '/^$/d' simulation.csv >without.csv
sed 's/simulation.csv/without.csv/' figure.toml >without.toml
run 0 figure without.toml
sed 's/without/simulation/' figures/without.csv >first
same first figures/figure.csv
printf '# means\n\nx,mean,sem,n\n1,2,0.1,6\n2,4,0.1,6\n' >simulation.csv
run 0 figure figure.toml
[ "$(grep -c ',sim' figures/figure.csv)" -eq 2 ] || fail "not two points: $(cat figures/figure.csv)"
finish
