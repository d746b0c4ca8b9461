#!/usr/bin/env bash
# Only a margin that was given can be post hoc.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
small="--quiet --out runs --set plot.formats=[\"svg\"] --set sweep.lambda=[0.1,1.0] --set sim.data_sets=1 --replicates 20"
"$program" run gauss-lambda --name a $small >out 2>err </dev/null
"$program" run gauss-lambda --name b --margin 0.5 $small >out 2>err </dev/null
says out "margin given after run"
"$program" run gauss-lambda --name c $small >out 2>err </dev/null
if grep -q "margin given after" out err runs/c-*/check.json; then fail "the study's own margin is called post hoc"; fi
"$program" check runs/c-* >out 2>err </dev/null
if grep -q "margin given after" out; then fail "check calls it so"; fi
finish
