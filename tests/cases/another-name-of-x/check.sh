#!/usr/bin/env bash
# The column x stands for a name that is not there: said where another column may have been meant, refused for a formula.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
{
  echo 'alpha,x,replicate,value'
  for a in 1 2; do for x in 1 2 4; do for r in 0 1 2 3 4 5 6 7 8 9; do echo "$a,$x,$r,$((a * x)).0$r"; done; done; done
} >simulation.csv
printf 'alpha,x,value\n1,1,1\n1,2,2\n1,4,4\n2,1,2\n2,2,4\n2,4,8\n' >theory.csv
run 0 judge theory.csv simulation.csv --x alpah --margin 50% --independent
says err "theory.csv: no column 'alpah': column 'x' is taken for it"
says err "simulation.csv: no column 'alpah': column 'x' is taken for it"
printf 'formats = ["svg"]\n[[panels]]\nlayers = [{csv = "theory.csv", x = "alpah"}]\n' >figure.toml
run 0 figure figure.toml
says err "theory.csv: no column 'alpah': column 'x' is taken for it"

# Where nothing else could be meant, nothing is said; of fit always.
cut -d, -f2- simulation.csv | head -31 >plain.csv
printf 'x,value\n1,1\n2,2\n4,4\n' >plain_theory.csv
run 0 judge plain_theory.csv plain.csv --x n --margin 50% --independent
! grep -q "no column" err || fail "$(cat err)"
run 0 fit plain.csv --x n
[ "$(grep -c "no column 'n'" err)" = 1 ] || fail "$(cat err)"

# The square of a size is no name of a column: the exponent would be that of the size.
for formula in 'x^2' 'sqrt(x)' 'log10(x)' '2*x'; do
  run 2 fit plain.csv --x "$formula"
  says err "no column '$formula', which is no name of one"
done
run 2 judge plain_theory.csv plain.csv --x 'x^2' --margin 50%
says err "no column 'x^2'"
finish
