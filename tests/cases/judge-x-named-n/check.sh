#!/usr/bin/env bash
# A column has one meaning: x of the name n is not the number of replicates as well; what is missing is named, with what to type.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
run 2 judge theory.csv simulation.csv --x n --margin 10% --name n
says err "missing column with the number of replicates"
says err "'n' is x here"
says err "'replicates'"
says err "--n N"
absent runs
# Given by a number or as a column of another name, it is that number.
run 3 judge theory.csv simulation.csv --x n --n 3 --margin 10% --name number --json
grep -q '"n": 3' out || fail "not 3 replicates: $(cat out)"
sed 's/sem/sem,replicates/; s/^\([0-9].*\)$/\1,3/' simulation.csv >column.csv
run 3 judge theory.csv column.csv --x n --margin 10% --name column --json
grep -q '"n": 3' out || fail "not 3 replicates: $(cat out)"
run 3 judge theory.csv simulation.csv --x n --n unknown --margin 10% --name unknown
says err "the number of replicates is unknown"
finish
