#!/usr/bin/env bash
# x printed with six digits is the x of the theory; what meets no theory is named, and is no AGREE.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
run 1 judge theory.csv simulation.csv --x t --margin 10% --out runs --name rounded
says out "DISAGREE: 3 of 7 points agree, 4 disagree"
says out "disagrees: y at t=0.166667"
# The same numbers as single precision, and with other numbers of digits.
for format in '%.8g' '%.4f' '%.17g'; do
  awk -F, -v OFS=, -v f="$format" 'NR > 1 && $1 ~ /\./ { $1 = sprintf(f, $1 * 1 == 0.166667 ? 1/6 : $1 == 0.333333 ? 1/3 : $1 == 0.666667 ? 2/3 : $1 == 0.833333 ? 5/6 : $1) } 1' simulation.csv >printed.csv
  run 1 judge theory.csv printed.csv --x t --margin 10% --out runs --name "printed-${format//[^0-9a-z]/}"
  says out "4 disagree"
done
# Too far to be meant without a word: named with its nearest partner.
sed 's/^0\.166667,/0.16667001,/' simulation.csv >near.csv
run 1 judge theory.csv near.csv --x t --margin 10% --out runs --name near
says out "no theory: y at t=0.16667001: the nearest t of the theory is 0.16666666666666666, 2e-05 off (relative): --match 0.0001 if it is meant"
run 1 judge theory.csv near.csv --x t --margin 10% --match 0.0001 --out runs --name matched
says out "DISAGREE: 3 of 7 points agree, 4 disagree"
# Without the four that are off: what was left out keeps the verdict open, unless that is announced.
awk -F, 'NR == 1 || $1 * 2 == int($1 * 2)' simulation.csv >exact.csv
run 0 judge theory.csv exact.csv --x t --margin 10% --out runs --name exact
says out "AGREE: 3 of 3 points agree"
says out "4 of the theory without simulation"
{ cat exact.csv; for r in $(seq 0 29); do echo "0.4,$r,1.$((r * 7 % 10))"; done; } >more.csv
run 3 judge theory.csv more.csv --x t --margin 10% --out runs --name more
says out "INCONCLUSIVE: 3 of 3 points agree, 0 disagree, 0 inconclusive, 1 without theory"
says out "no theory: y at t=0.4"
run 0 judge theory.csv more.csv --x t --margin 10% --partial --out runs --name partial
says out "no theory: y at t=0.4"
finish
