#!/usr/bin/env bash
# A run that is running is said to be running, by which process, and how far it is.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
"$program" run gauss-double-descent --replicates 200000 --threads 1 --name s --out runs --quiet >/dev/null 2>&1 </dev/null &
process=$!
for _ in $(seq 200); do
  [ -n "$(find runs -name '*.part' 2>/dev/null | head -1)" ] && break
  sleep 0.1
done
run 0 status runs/s-*
says out "running, process $process on "
says out " pieces, about "
run 0 status runs/s-* --json
says out '"state": "running"'
"$program" check runs/s-* >out 2>err </dev/null && fail "check of a run that is running"
says err "process $process on "
kill -9 $process
wait $process 2>/dev/null
run 0 status runs/s-*
says out "unfinished: continue with"
finish
