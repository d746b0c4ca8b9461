#!/usr/bin/env bash
# What plan and --dry-run say before a run: commands, times, set-up.   estimates.sh PROGRAM PROJECT_FOLDER
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source "$(dirname "${BASH_SOURCE[0]}")/small_run.sh"

# The plan names the run that was planned.
run 0 plan small.toml --margin 0.4 --set model.rho=0.5 --set 'sweep.alpha=[4.0]' --seed 7 --quiet
says out "attica run small.toml --set model.rho=0.5 --set 'sweep.alpha=[4.0]' --seed 7 --margin 0.4 --replicates"

# Its time is that of the whole run, which makes the pilot's replicates anew.
cat >slow.toml <<'EOF'
x = "n"
[sweep]
n = [1, 2]
[theory.expression]
y = "n"
[simulation]
command = ["bash", "-c", "sleep 0.1; echo value; echo $(($1 * 1000 + $2 % 7 - 3))e-3", "_", "{n}", "{seed}"]
[agreement.y]
relative = 0.5
EOF
run 0 plan slow.toml --threads 1 --json --quiet
one_json out
says out '"replicates": 30'
planned=$(sed -n 's/.*"seconds": \([0-9.]*\),.*/\1/p' out)
awk -v s="$planned" 'BEGIN { exit !(s >= 6) }' || fail "60 processes of 0.1 s are planned to take $planned s"

# More than there is.
run 2 run small.toml --replicates 1000000000 --name endless
says err "pieces of work"
run 0 run small.toml --replicates 1000000000 --dry-run
says out "MORE THAN THERE IS"
run 0 run small.toml --dry-run --json
one_json out
says out '"seconds"'

# A replicate that takes longer than the measurement: from trainings of fewer steps.
for length in 10000000 1000000000; do
  run 0 run bigrams-stability --set 'sweep.rate_ratio=[0.5]' --set sim.length=$length --dry-run --json
  says out '"complete": true'
  sed -n 's/.*"seconds": \([0-9]*\).*/\1/p' out >long-$length
done
# A hundred times the steps; a busy machine measures within a factor of four.
[ "$(cat long-1000000000)" -gt $((25 * $(cat long-10000000))) ] || fail "length does not count in the estimate"
[ "$(cat long-1000000000)" -lt $((400 * $(cat long-10000000) + 400)) ] || fail "length counts too much in the estimate"
# Points that differ: steps go with 1/eta, of which all sixteen together have 32 times as many as 0.01 alone.
for etas in all 0.01; do
  only=()
  [ $etas = all ] || only=(--set "sweep.eta=[$etas]")
  run 0 run gauss-sgd-steady --preset paper --set 'sweep.batch=[16]' "${only[@]}" --dry-run --json --quiet
  sed -n 's/.*"seconds": \([0-9.]*\).*/\1/p' out >eta-$etas
done
awk -v all="$(cat eta-all)" -v one="$(cat eta-0.01)" 'BEGIN { exit !(all > 12 * one && all < 80 * one) }' ||
  fail "sixteen rates take $(cat eta-all) s, one of them $(cat eta-0.01) s"

# Set-up counts as time: 600 sites' theory alone takes longer.
start=$SECONDS
run 75 run gauss-overlaps --set model.sites=1200 --max-time 0.5 --name slow
[ $((SECONDS - start)) -lt 60 ] || fail "--max-time 0.5 took $((SECONDS - start)) s"
finish
