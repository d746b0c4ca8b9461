#!/usr/bin/env bash
# --set is one key and one value: line breaks, comments and further keys are refused, in the program and in Python.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
run 2 config show gauss-lambda --set $'model.rho=0.5\n[sim]\nseed=9'
says err "a line break or another control character; expected one value"
silent out
run 2 config show gauss-lambda --set $'model.rho=0.5\rsim.seed=9'
run 2 config show gauss-lambda --set 'model.rho=0.5 # sim.seed=9'
says err "a comment begins at '#'"
# Quotes that only look closed.
run 2 config show gauss-lambda --set $'model.covariance=\'\'\'a\'b\'\'\'\nsim.seed=9'
run 2 config show gauss-lambda --set $'sweep.lambda=[0.1,\n0.2]'
run 0 config show gauss-lambda --set 'sweep.lambda=[0.1, 0.2]'
run 0 config show gauss-lambda --set 'sweep.lambda={log = [0.1, 1.0], n = 3}'
cat >keys.py <<'EOF'
import attica
try:
    attica.theory("gauss-lambda", **{"model.rho": 0.5, "sim.seed": "9\n[model]\nsites=7"})
except Exception as error:
    print(type(error).__name__, error)
else:
    raise SystemExit("accepted")
EOF
python 0 keys.py
finish
