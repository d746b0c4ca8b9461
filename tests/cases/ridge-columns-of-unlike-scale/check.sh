#!/usr/bin/env bash
# Columns of unlike scale are named in the warning, with what to type.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
settings=(--set 'model.covariance="data"' --set 'model.file="units.csv"' --set 'sweep.lambda=[0.1,1.0]' --set 'sweep.alpha=[0.5,2.0]')
"$program" run gauss-lambda "${settings[@]}" --replicates 30 --name units >out 2>err
says err "c0 has "
says err "times the variance of the other columns"
says err "model.standardise=true"
"$program" run gauss-lambda "${settings[@]}" --replicates 30 --name scaled --set model.standardise=true --dry-run >out 2>err
grep -q "times the variance" err && fail "still a warning: $(cat err)"
finish
