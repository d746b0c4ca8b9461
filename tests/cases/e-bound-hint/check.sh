#!/usr/bin/env bash
# The replicates that would decide a bound follow from the rate of violations that was seen.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
run 3 bound bound.toml --out runs --name b
says out "5 of 100 replicates violate it"
says out "at that rate about 120 replicates would show that it holds"
# With nothing seen, those without a violation.
head -21 bt.csv >few.csv
sed 's/bt.csv/few.csv/; s/"2"/"1e9"/' bound.toml >none.toml
run 3 bound none.toml --out runs --name none
says out "29 replicates without a violation would show that it holds"
finish
