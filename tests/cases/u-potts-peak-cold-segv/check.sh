#!/usr/bin/env bash
# A Potts model too cold for a theory of its square loss is refused by model.beta, before any work, and never ends in a signal.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
for beta in 50 700 1e4 1e300 -1e300; do
  run 2 run potts-peak --set model.beta=$beta --replicates 2 --threads 1 --max-time 3
  says err "parameter 'model.beta'"
  ! grep -q covariance err || fail "an internal name: $(cat err)"
done
run 2 theory potts-square --set model.sites=6 --set model.colours=3 --set model.beta=1e4
says err "parameter 'model.beta' = 10000"
finish
