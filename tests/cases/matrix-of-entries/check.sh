#!/usr/bin/env bash
# Entries of a matrix, a row each, are read as three columns of numbers, which is said.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
for i in 0 1 2; do for j in 0 1 2 3; do echo "$i,$j,0.$((i + j + 1))"; done; done >entries.csv
run 0 measure entries.csv
says err "entries.csv: every row is two whole numbers and a value, read as a matrix of 12 x 3"
sed 's/^/1/' entries.csv >far.csv # 10 to 12 are no rows of so small a matrix
run 0 measure far.csv
! grep -q "two whole numbers" err || fail "$(cat err)"
printf '1,2,0.5\n2,1,0.4\n1,1,0.3\n2,2,0.1\n' >small.csv
run 0 measure small.csv
says err "two whole numbers and a value"
printf '0,1,0.5\n2,1,0.4\n0,1,0.3\n2,2,0.1\n' >twice.csv
run 0 measure twice.csv
! grep -q "two whole numbers" err || fail "$(cat err)"
finish
