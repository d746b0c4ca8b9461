#!/usr/bin/env bash
# Matrices whose first line may be names of columns, or a row that was taken for such.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
printf '1.0 ****\n3.0 4.0\n' >fortran.txt
run 2 measure fortran.txt
says err "'****' is neither a number nor the name of a column"
printf '1.5,a,b\n3.5,4.5,2.25\n4.5,1.5,2.5\n' >mixed.csv
run 0 measure mixed.csv
says err "mixed.csv:1: the first line, 1.5 to b, was read as names of columns, as not all of it is numbers"
printf '8,4,2,1\n0.25,0.5,0.125,1.5\n2.5,0.75,1.25,3.5\n' >falling.csv
run 0 measure falling.csv
says err "falling.csv:1: the first line, 8 to 1, was read as a row of numbers; if it names columns, take it out"
printf '0\n0.123456789012\n0.345678901234\n' >single.csv # pandas.DataFrame(vector).to_csv(FILE, index=False)
run 0 measure single.csv
says err "single.csv:1: the first line, 0, was read as a row of numbers"
for rows in '0\n0.1\n0.2\n' '4\n3.21234567890\n1.21234567890\n' '0,0,0\n0.25,0.5,0.125\n1.5,2.5,3.5\n' '1,2\n3,4\n'; do
  printf "$rows" >matrix.csv
  run 0 measure matrix.csv
  ! grep -q "first line" err || fail "a remark on $rows: $(cat err)"
done
finish
