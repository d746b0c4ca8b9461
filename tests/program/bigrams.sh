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
sim.eta_V -1.0
sim.eta_A 0.0
sim.l1 -0.1
sim.algorithm "adam"
sim.start "zero"
ROWS
run 2 theory bigrams-complexity --set sim.epsilon=0.0
says err sim.epsilon
run 2 theory bigrams-transfer --set sim.theta=1.5
says err sim.theta

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

command -v python3 >/dev/null || exit 77
kb=$(peak "$program" run bigrams-boosting --out runs --quiet --replicates 8 --set model.context=100000000 \
  --set sim.surrogate=\"aggregated\" --set sim.batch=1000000 --set 'sim.steps=[10,20]' --set 'plot.formats=["svg"]')
echo "peak resident memory: $kb kB"
[ "$kb" -lt 100000 ] 2>/dev/null || fail "$kb kB, at most 100000 are promised"

# Where A is stored, the study refuses and says what to use.
run 2 run bigrams-recursion --set model.context=1000000000
says err "aggregated"

finish
