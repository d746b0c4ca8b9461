#!/usr/bin/env bash
# A time limit of centuries, or none, is no limit.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
small="--replicates 8 --quiet --set sweep.lambda=[0.1,1.0] --set sim.data_sets=1"
for time in inf 1e10 1e300 1e999 3000000h; do
  "$program" run gauss-lambda $small --max-time "$time" --out "runs-$time" >out 2>err </dev/null
  code=$?
  [ $code -eq 3 ] || [ $code -eq 0 ] || fail "--max-time $time: exit code $code: $(cat err)"
done
run 2 run gauss-lambda $small --max-time nan --out runs
run 2 run gauss-lambda $small --max-time=-1 --out runs
run 0 slurm gauss-lambda --max-time inf
says out "--time=UNLIMITED"
finish
