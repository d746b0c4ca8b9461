#!/usr/bin/env bash
# The example theories in text have the values of the papers and of SciPy, and a wrong one is rejected.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
cp "$project"/examples/text/* .
# The curve of 36 points.
sed -i 's/^sweep.alpha = .*/sweep.alpha = {log = [1.778279, 10.0], n = 36}/; /^\[simulation\]/,$d' masked.toml
# value FILE SERIES X: what `theory` says there
value() {
  [ -e "$1.json" ] || "$program" theory "$1" --json >"$1.json" 2>printed.err </dev/null || fail "$1: $(cat printed.err)"
  /usr/bin/python3 -c "import json; print(next(y for s in json.load(open('$1.json'))['series'] if s['name'] == '$2' for x, y in zip(s['x'], s['y']) if abs(x - $3) < 1e-6 * $3))"
}
near() { /usr/bin/python3 -c "import sys; sys.exit(abs($1 - $2) > $3 * abs($2))" || fail "$4: $1, expected $2"; }

# Cosine and norm of the masked autoencoder: fsolve on the same equations, and the repository of Medina Moreira, Bardone, Zdeborova 2026.
near "$(value masked.toml cosine 10.0)" 0.908117 1e-6 masked
near "$(value masked.toml Q 10.0)" 1.022332 1e-6 masked
near "$(value masked.toml cosine 1.778279)" 0.5252612 1e-6 masked
# Attention at initialisation: the trapezoid rule, two nested sums.
near "$(value attention.toml participation 1.0)" 0.1014781895 1e-8 attention
near "$(value attention.toml participation 1.5)" 0.2787203 1e-6 attention
# Overlaps of online SGD: solve_ivp at 1e-10.
near "$(value online_sgd.toml R 2.0)" 0.51438304 1e-7 online_sgd
near "$(value online_sgd.toml error 8.0)" 0.00259657 1e-5 online_sgd
wc -l ./*.toml | awk '$2 != "total" && $1 > 35 { exit 1 }' || fail "an example has more than 35 lines"
if /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
  # Without the term of second order in the rate, the flow is that of gradient descent on the population.
  sed 's| + 4\*rate^2/pi^2/sqrt(1 + 2\*Q)\*(noise - cross)||; /^noise = /d; /^cross = /d' online_sgd.toml >wrong.toml
  run 1 run wrong.toml --out runs --name wrong --replicates 20
  says out DISAGREE
fi
finish
