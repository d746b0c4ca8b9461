#!/usr/bin/env bash
# A penalty whose law needs more cells than a grid may have is a numerical failure that names sim.l1, and no signal.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
for l1 in 1e4 1e300; do
  run 4 theory bigrams-regularisation --set sim.l1=$l1
  says err "change sim.l1 = "
done
finish
