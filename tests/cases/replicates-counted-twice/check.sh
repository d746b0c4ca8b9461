#!/usr/bin/env bash
# Replicates that are others again (a file read twice, seeds used twice) are counted in the verdict; rates, which are
# equal by chance, are none.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
printf 'x,value\n1,1\n2,2\n3,3\n4,4\n' >theory.csv
awk 'BEGIN { srand(3); print "x,replicate,value"
  for (r = 0; r < 20; ++r) for (x = 1; x <= 4; ++x) printf "%d,%d,%.12f\n", x, r, x * (1 + 0.01 * rand()) }' >once.csv
awk -F, -v OFS=, '{ print } NR > 1 { print $1, $2 + 20, $3 }' once.csv >twice.csv
awk -F, -v OFS=, 'NR == 1 { print; next } { print $1, $2, ($2 % 7 > $1 ? 1 : 0) }' once.csv >rates.csv
run 0 judge theory.csv once.csv --margin 5% --name once --json
! grep -q '"copies"' out || fail "copies among 20 different replicates"
run 0 judge theory.csv twice.csv --margin 5% --name twice
says out "20 of 40 replicates equal another one at every point, to the last digit"
says runs/twice-*/check.json '"copies": 20'
sed 's/,[^,]*$/,0.5/; 1s/0.5/value/' theory.csv >half.csv
"$program" judge half.csv rates.csv --absolute 0.5 --name rates --json >out 2>err
says out '"compared": 4'
! grep -q '"copies"' out || fail "copies among rates"
finish
