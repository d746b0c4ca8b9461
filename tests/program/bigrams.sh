#!/usr/bin/env bash
# Sparse contextual bigrams: memory of the aggregated surrogate, refusals, a user's text.   bigrams.sh PROGRAM PROJECT_FOLDER
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# Bad input is refused by name before any work.
while read -r key value; do
  run 2 theory bigrams-recursion --set "$key=$value"
  says err "$key"
done <<'ROWS'
model.tokens 1
model.context 1
model.sparsity 0
model.sparsity 301
model.p_diagonal 1.5
model.p_diagonal nan
model.instance "markov"
sim.batch 0
sim.eta 0.0
sim.eta inf
sim.eta 1e-300
sim.eta_V -1.0
sim.eta_A 0.0
sim.l1 -0.1
sim.algorithm "adam"
sim.start "zero"
sim.steps []
sim.surrogate "gauss"
model.tokens 70000
ROWS
# Rates at which descent leaves every solution; stability sets its own.
for study in flow sign boosting recursion floor softmax regularisation vocabulary large transfer complexity; do
  run 2 run "bigrams-$study" --out rates --set sim.eta=1000.0
  says err "'sim.eta' = 1000: expected a rate below"
done
while read -r study key value; do
  run 2 theory "bigrams-$study" --set "$key=$value"
  says err "$key"
done <<'ROWS'
transfer sim.theta 1.5
transfer model.p_diagonal 1.0
transfer sim.theta 0.0
transfer sweep.correlation [1.5]
transfer sim.surrogate "aggregated"
sign sim.theta 0.0
sign sweep.snr [0.0]
sign sweep.context [1]
boosting sim.theta nan
complexity sim.epsilon -1.0
complexity model.correlation 0.0
complexity sweep.context [1]
complexity sim.surrogate "aggregated"
regularisation sim.l1 0.0
regularisation sim.surrogate "aggregated"
vocabulary sweep.tokens [1]
floor sweep.l1 [-0.1]
floor sim.eta 5.0
floor sim.surrogate "dense"
stability sweep.rate_ratio [0.0]
sign sweep.snr [1e300]
vocabulary sim.l1 0.0
ROWS
# What is too large to be simulated is refused before a run, and predicted all the same.
for study in flow softmax recursion; do
  run 0 theory "bigrams-$study" --set model.context=900000000 --set 'sim.steps=[1,10]'
  run 2 run "bigrams-$study" --out large --set model.context=900000000 --set 'sim.steps=[1,10]'
  says err model.context
done

# No signal: no theory, but runs.
even='--set model.instance="circulant" --set model.weights="uniform"'
for law in model.p_diagonal=0.5 model.context=2; do
  run 2 theory bigrams-recursion $even --set model.tokens=2 --set "$law"
  says err "without signal"
  run 3 run bigrams-recursion --out "no-signal-${law%%=*}" --replicates 2 $even --set model.tokens=2 --set "$law" \
    --set 'sim.steps=[5,10]' --set 'plot.formats=["svg"]'
  says err "without signal"
done
run 0 theory bigrams-flow --set model.context=30 --set 'sim.steps=[1,10]'
says err "10 N Q"

# ends FOLDER STATUS: some replicate of the run in FOLDER ended so.
ends() { grep -qE "\"$2\": *[0-9]" "$1"/*/run.json || fail "no replicate in $1 ended as '$2'"; }

# short NAME CODE STUDY ARGUMENTS...: a short run.
short() {
  local name=$1 code=$2 study=$3
  shift 3
  run "$code" run "$study" --out "$name" --set 'plot.formats=["svg"]' "$@"
}

# Every update rule end to end; those without theory have nothing to compare. So few and short runs
# decide nothing (3): four runs are no verdict on a claim either.
steps='sim.steps=[20,100]'
small="--set model.context=100 --replicates 4 --set $steps"
for rule in sgd_raw sgd_projected; do
  short $rule 3 bigrams-recursion $small --set sim.batch=256 --set "sim.algorithm=\"$rule\""
  ends $rule converged
done
short sgd_hat 3 bigrams-recursion $small --set sim.batch=256 --set 'sim.algorithm="sgd_hat"'
for rule in l1 l1_sum1; do
  short $rule 3 bigrams-regularisation $small --set sim.batch=256 --set "sim.algorithm=\"$rule\""
  ends $rule converged
done
short softmax 3 bigrams-softmax $small --set sim.length=50 --set 'sim.algorithm="softmax"'
ends softmax converged
short uniform 3 bigrams-recursion $small --set sim.batch=256 --set 'sim.start="uniform"' --set 'model.instance="sinkhorn"'
ends uniform converged

# Every way to replace sequences.
for surrogate in none dense aggregated sparse; do
  short surrogate-$surrogate 3 bigrams-recursion $small --set sim.batch=256 --set "sim.surrogate=\"$surrogate\""
  ends surrogate-$surrogate converged
done
for surrogate in dense sparse; do
  short l1-$surrogate 3 bigrams-regularisation $small --set sim.batch=256 --set "sim.surrogate=\"$surrogate\""
  ends l1-$surrogate converged
done

# Runs that end badly are counted by how.
short mirror 0 bigrams-transfer $small --set sim.batch=256 --set 'sweep.correlation=[-0.3]'
ends mirror mirror
short collapsed 3 bigrams-regularisation $small --set sim.batch=256 --set sim.l1=5.0
ends collapsed collapsed
short diverged 4 bigrams-recursion $small --set sim.batch=2 --set sim.eta=2.0
ends diverged diverged
says err "stability limit"

# An instance file: refused by name, or accepted.
instance() { printf '%s\n' "$@" >instance.txt; }
explicit="--set model.instance=\"explicit\" --set model.file=\"instance.txt\" --set model.tokens=2 --set model.context=100"
refused() {
  run 2 theory bigrams-recursion $explicit
  says err "$1"
}
instance 'mu 0.5 0.5' 'P 0.9 0.2' 'P 0.1 0.9'
refused "column 1 with sum 1.1"
instance 'mu 0.5 0.5' 'P 1.1 0.1' 'P -0.1 0.9'
refused "entries >= 0"
instance 'mu 0.5 0.6' 'P 0.9 0.1' 'P 0.1 0.9'
refused "mu"
instance 'mu 0.4 0.6' 'P 0.9 0.1' 'P 0.1 0.9'
refused "stationary law of P"
instance 'mu 0.5 0.5' 'P 0.9 0.1' 'P 0.4 0.6'
refused "transpose"
instance 'mu 0.5 0.5' 'P nan 0.1' 'P 0.1 0.9'
refused "instance.txt:2"
instance 'mu 0.5 0.5' 'P 0.9 0.1' 'P 0.1 0.9' 'Q 0 1:0.5 3:0.6' 'Q 1 0:1'
refused "sum to 1"
instance 'mu 0.5 0.5' 'P 0.5 0.5' 'P 0.5 0.5'
refused "K_P"
instance 'mu 0.5 0.5' 'P 0.9 0.1' 'P 0.1 0.9' 'Q 0 1:0.25 3:0.75' 'Q 1 0:1'
run 0 theory bigrams-recursion $explicit

# A user's text: the law is that of its bigrams, its stationary law is checked when it is made.
printf 'the quick brown fox jumps over the lazy dog and the cat sat on the mat while it rained' >text.txt
run 0 theory bigrams-flow --set 'model.instance="text"' --set 'model.file="text.txt"' --set model.tokens=6 --json
one_json out
says out symbols

# Peak resident memory of the run in kB: the shell waits for the program alone.
peak() { python3 - "$@" <<'PYTHON'
import resource, subprocess, sys
code = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss if code in (0, 3) else "exit code %d" % code)
PYTHON
}

# The mean field beside a surrogate of few tokens, whose noise of V lies along P by a quarter and more.
run 0 run bigrams-recursion --out runs --name surrogate --quiet --set 'sim.surrogate="dense"' --set 'plot.formats=["svg"]'
says out "AGREE"
# Softmax attention reaches the target from either start; nothing is recorded at a fixed batch, and no panel is drawn of it.
run 0 run bigrams-complexity --out runs --name logits --quiet --replicates 2 --set 'sim.algorithm="softmax"' \
  --set 'sweep.context=[30]' --set sim.eta=0.1 --set sim.length=1000 --set sim.compared_context=2 --set 'plot.formats=["svg"]'
[ "$(grep -c 'samples_to_error,sim' "$(echo runs/logits-*)/results.csv")" -eq 2 ] || fail "softmax attention misses the target"
present "$(echo runs/logits-*)/plots/bigrams-complexity.svg"

command -v python3 >/dev/null || exit 77
kb=$(peak "$program" run bigrams-boosting --out runs --quiet --replicates 8 --set model.context=100000000 \
  --set sim.surrogate=\"aggregated\" --set sim.batch=1000000 --set 'sim.steps=[10,20]' --set 'plot.formats=["svg"]')
echo "peak resident memory: $kb kB"
[ "$kb" -lt 100000 ] 2>/dev/null || fail "$kb kB, at most 100000 are promised"

# Where A is stored, the study refuses and says what to use.
run 2 run bigrams-recursion --set model.context=1000000000
says err "aggregated"

finish
