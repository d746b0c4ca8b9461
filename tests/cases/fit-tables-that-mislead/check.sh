#!/usr/bin/env bash
# Tables that a fit or a bound could misread are refused, or what is unclear about them is said.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
# Replicates that were stopped at 60 and have that number: what they needed is not known.
awk 'BEGIN { srand(1); print "x,replicate,value"; for (x = 4; x < 200; x *= 2) for (r = 0; r < 20; ++r) {
  n = x * exp(0.6 * (rand() - 0.5)); print x "," r "," (n > 60 ? 60 : n) } }' >cap.csv
run 3 fit cap.csv --exponent 1
says err "at 2 sizes have the largest value, 60: if they were stopped there, write inf"
run 3 bound cap.csv --expression "C*x" --constant C --probability 0.9
says err "write inf"
sed 's/,60$/,inf/' cap.csv >inf.csv
run 0 fit inf.csv --exponent 1
! grep -q "write inf" err || fail "$(cat err)"
# A swept delta is a size of its own, also as its logarithm; in a bound it is not 1 - P at once.
awk 'BEGIN { srand(2); print "d,delta,replicate,value"; split("0.2 0.1 0.03 0.005", all, " ")
  for (d = 4; d < 40; d *= 2) for (k = 1; k < 5; ++k) for (r = 0; r < 20; ++r)
    print d "," all[k] "," r "," 3 * d * log(1 / all[k])^2 * exp(0.2 * (rand() - 0.5)) }' >delta.csv
run 3 fit delta.csv --x d --x 'log(1/delta)' --expect d=1 --expect 'log(1/delta)=2'
says out "exponent of log(1/delta) 2.0"
says out "log(1/delta) spans less than a factor 8"
run 0 fit delta.csv --x 'log(1/delta)'
run 2 bound delta.csv --expression "4*d*log(1/delta)^2" --probability 0.9
says err "is a column, and 1 - P"
run 2 bound delta.csv --expression "C*d*log(1/delta)^2" --constant C --probability 0.9
says err "is a column, and 1 - P"
run 3 bound delta.csv --expression "4*d*log(1/delta)^2" --probability 1
# A size that is a word, or empty, in some rows: they are not left out unsaid. Failed replicates of a collapse are.
awk 'BEGIN { print "L,x,replicate,value"; for (L = 4; L < 40; L *= 2) for (x = 0.1; x < 1; x *= 2)
  for (r = 0; r < 8; ++r) print L "," x "," r "," sqrt(L) * exp(-x * L / 8) * (1 + 0.01 * r) }' >collapse.csv
for word in small ''; do
  sed "s/^4,/$word,/" collapse.csv >words.csv
  run 2 fit words.csv --collapse L --x x
  says err "'words.csv': 'L' is no number in every row of 'y'"
done
sed '4s/[^,]*$/nan/' collapse.csv >failed.csv
run 0 fit failed.csv --collapse L --x x
says out "1 replicate without a value left out"
awk 'BEGIN { print "n,replicate,step,value"; for (n = 8; n < 200; n *= 2) for (r = 0; r < 10; ++r)
  for (s = 1; s < 5000; s *= 3) print (n == 8 ? "small" : n) "," r "," s "," n * (1 + 0.01 * r) / s }' >learning.csv
run 2 fit learning.csv --x n --reach 1 --along step
says err "'n' is no number in every row of 'step', as at n=small"
# Names: x stands for another size, which is said; a column of replicates of another name is asked for.
run 0 fit inf.csv --x d
says err "no column 'd': column 'x' is taken for it"
sed '1s/replicate/rep/' inf.csv >rep.csv
run 2 fit rep.csv --x x
says err "--replicate NAME"
# No noise at all: the error of the means is that of rounding, which decides nothing.
awk 'BEGIN { print "x,replicate,value"; for (x = 4; x < 100; x *= 2) for (r = 0; r < 10; ++r)
  printf "%d,%d,%.17g\n", x, r, 0.1 + 3 / x^0.7 }' >exact.csv
run 0 fit exact.csv --floor --exponent -0.7 --json
says out '"interval_from": "scatter"'
# What no floor describes is said before what its interval leaves open; four sizes have no shorter window.
awk 'BEGIN { srand(3); print "a,b,replicate,value"; for (a = 4; a < 40; a *= 2) for (b = 2; b < 20; b *= 2)
  for (r = 0; r < 10; ++r) print a "," b "," r "," a * b^2 * exp(0.1 * (rand() - 0.5)) }' >product.csv
run 0 fit product.csv --x a --x b --floor
says out "weak: the residuals are larger than the errors of the means"
! grep -q "without the smallest" out || fail "$(grep without out)"
# A growth that is left open says up to which power.
awk 'BEGIN { srand(4); print "d,replicate,value"; for (d = 4; d < 40; d *= 2) for (r = 0; r < 40; ++r)
  print d "," r "," d * exp(2 * (rand() + rand() - 1)) }' >wide.csv
run 3 bound wide.csv --expression "C*d" --constant C --probability 0.9 --tolerance 0.02
says out "y over the bound may grow with d up to the power"
finish
