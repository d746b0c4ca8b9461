#!/usr/bin/env bash
# Columns of unlike scale are named in the warning, with what to type.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
run 3 run gauss-lambda --set 'model.covariance="data"' --set 'model.file="units.csv"' --set 'sweep.lambda=[0.1,1.0]' \
  --set 'sweep.alpha=[0.5,2.0]' --replicates 30 --name units
says err "c0 has 1e+16 times the variance of the other columns"
says err "model.standardise=true"
run 0 run gauss-lambda --set 'model.covariance="data"' --set 'model.file="units.csv"' --set 'sweep.lambda=[0.1,1.0]' \
  --set 'sweep.alpha=[0.5,2.0]' --replicates 30 --name units --set model.standardise=true --dry-run
grep -q "times the variance" err && fail "still a warning: $(cat err)"
finish
