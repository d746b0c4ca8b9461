#!/usr/bin/env bash
# The aggregated surrogate holds no entry of A: a context of 10^8 fits in 100 MB.   memory.sh PROGRAM PROJECT_FOLDER
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

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
