#!/usr/bin/env bash
# Names of columns 0, 1, 2 (pandas of an array) are no row of the matrix, and a remark says so; a permutation stays possible.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
run 0 measure weights.csv
says err "was read as names of columns"
grep -q '^rows *3$' out || fail "not 3 rows: $(cat out)"
says out "frobenius_norm     1.21"
says out "stable_rank        1.406"
says out "attention_entropy  0.876"
printf '0,1,2\n1,2,0\n2,0,1\n' >permutations.csv
run 0 measure permutations.csv
grep -q '^rows *3$' out || fail "not 3 rows: $(cat out)"
says err "was read as a row of numbers"
finish
