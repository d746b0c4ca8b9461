#!/usr/bin/env bash
# A point where the theory of a table is infinite or unknown is drawn, not compared, and counted, as that of a formula.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
for kind in infinite empty; do
  run 0 judge $kind.csv simulation.csv --x alpha --margin 10% --name $kind
  says out "2 of 2 points"
  says out "1 without theory"
  grep -q '^own,y,sim,alpha,1,' runs/$kind-*/results.csv || fail "the point of alpha = 1 is not in results.csv"
done
finish
