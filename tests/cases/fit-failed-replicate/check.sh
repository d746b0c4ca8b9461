#!/usr/bin/env bash
# An empty value is a replicate that failed and is left out, inf one that never reached its target; others <= 0 are named.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
run 0 fit failed.csv --x N
says out "3 replicates without a value left out"
run 0 fit never.csv --x N
says out "3 of 10 never reached it"
grep -qE "exponent (0.99|1.00)" out || fail "exponent: $(grep exponent out)"
line=$(grep -n ',-\|,0$\|,0\.0*$' negative.csv | head -1 | cut -d: -f1)
run 2 fit negative.csv --x N
says err "negative.csv:$line:"
says err "expected numbers > 0"
sed 's/inf$/Infinity/' never.csv >word.csv
run 0 fit word.csv --x N
says out "3 of 10 never reached it"
sed 's/inf$/nan/' never.csv >nan.csv
run 0 fit nan.csv --x N
says out "3 replicates without a value left out"
sed '/^160,/s/,[^,]*$/,inf/' never.csv >none.csv
run 0 fit none.csv --x N
says out "10 of 10 never reached it  not used"
finish
