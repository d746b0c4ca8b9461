#!/usr/bin/env bash
# A curve that levels off: the text says that the exponent depends on the window, and --floor fits floor and exponent.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
run 0 fit floor.csv --x N
says out "the exponent depends on the window"
says out "the local slopes fall from size to size: the curve may level off; --floor fits"
run 3 fit floor.csv --x N --exponent -1
says out "(depends on the window)"
says out "--floor fits"
# y = 0.1 + 10/N.
run 0 fit floor.csv --x N --floor --exponent -1
says out "prediction -1: agrees"
run 0 fit floor.csv --x N --floor --json
/usr/bin/python3 - out <<'EOF' || fail "floor and exponent"
import json, sys
fitted = json.load(open(sys.argv[1]))["exponents"][0]["fitted"]
for name, true in (("floor", 0.1), ("prefactor", 10)):
    low, high = fitted[name + "_interval95"]
    assert low < true < high and high - low < 0.2 * true, (name, low, high)
low, high = fitted["interval95"]
assert low < -1 < high and high - low < 0.1, (low, high)
EOF
run 0 fit floor.csv --x N --floor 0.1 --exponent -1
says out "floor 0.1 (given)"
run 3 fit floor.csv --x N --floor 0.05 --exponent -1
says out "the residuals are larger than the errors of the means"
run 2 fit --floor floor.csv --x N
says err "parameter '--floor' = floor.csv"
finish
