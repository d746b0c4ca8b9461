#!/usr/bin/env bash
# Two runs of one study, side by side: z where there are error bars, and what shares random numbers.   compare.sh PROGRAM PROJECT_FOLDER
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source "$(dirname "${BASH_SOURCE[0]}")/small_run.sh"

other_study=gauss-double-descent
# One replicate has no error bar, hence no z.
run 3 run small.toml --replicates 1 --seed 9 --name one --quiet
run 0 compare runs/one-* "$whole"
says out "without z: a run with one replicate has no error bar"
grep -q 'reach about' out && fail "z of a single replicate"
run 0 compare runs/one-* "$whole" --json
says out '"z": null'
run 3 check runs/one-*
grep -E '^test_error' out | grep -qE ' 0 +1 ' && fail "the SEM of a single replicate is called 0"
run 3 check runs/one-*
grep -q 'decide' out && fail "one replicate: advice from no error bar"
# Two replicates know little of their own error: z is on the scale of a normal all the same.
for seed in 101 102 103 104; do
  run 3 run small.toml --replicates 2 --seed $seed --name "two$seed" --quiet
  run 0 compare "runs/two$seed-"* "$whole"
  awk '/largest .z/ { exit !($4 + 0 < 4) }' out || fail "seed $seed: $(grep largest out)"
done
# Runs of one seed share their random numbers; runs of different studies share nothing.
run 0 run small.toml --name wide --replicates 61 --quiet --margin 0.3
run 0 compare "$whole" runs/wide-*
says out "both runs have seed"
run 0 run $other_study --set model.sites=11 --set 'sweep.alpha=[2.0]' --set 'sweep.lambda=[1.0]' --replicates 60 --quiet \
  --margin 0.5 --set 'plot.formats=["svg"]' --name other
run 2 compare "$whole" runs/other-*
says err "expected two runs of one study"
finish
