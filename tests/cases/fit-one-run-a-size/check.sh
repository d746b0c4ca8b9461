#!/usr/bin/env bash
# With one run a size the interval of an exponent comes from the scatter about the line, and the text says so.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
run 0 fit scaling.csv --x N
says out "exponent -0.988, 95 % [-1.0"
says out "intervals from the scatter about the fit"
run 0 fit scaling.csv --x N --json
grep -q '"interval_from": *"scatter"' out || fail "interval_from"
# Student's t of 3 degrees of freedom: -0.9881 +- 0.0486.
/usr/bin/python3 - out <<'EOF' || fail "interval of the slope"
import json, math, sys
fitted = json.load(open(sys.argv[1]))["exponents"][0]["fitted"]
rows = [line.split(",") for line in open("scaling.csv").read().split()[1:]]
x = [math.log(float(r[0])) for r in rows]
y = [math.log(float(r[2])) for r in rows]
n, mx, my = len(x), sum(x) / len(x), sum(y) / len(y)
sxx = sum((a - mx) ** 2 for a in x)
slope = sum((a - mx) * (b - my) for a, b in zip(x, y)) / sxx
rest = sum((b - my - slope * (a - mx)) ** 2 for a, b in zip(x, y))
half = 3.182446305284263 * math.sqrt(rest / (n - 2) / sxx)
low, high = fitted["interval95"]
assert abs(low - (slope - half)) < 1e-9 and abs(high - (slope + half)) < 1e-9, (low, high, slope, half)
assert fitted["prefactor_interval95"][0] < fitted["prefactor"] < fitted["prefactor_interval95"][1]
EOF
# Two sizes at once.
awk 'BEGIN { srand(2); print "N,D,replicate,value"
  for (N = 10; N < 100; N *= 2) for (D = 3; D < 40; D *= 2) print N "," D ",0," N^-0.5 * D^-0.3 * exp((rand() - 0.5) / 10) }' >two.csv
run 0 fit two.csv --x N --x D --json
/usr/bin/python3 - out <<'EOF' || fail "intervals of two exponents"
import json, sys
joint = json.load(open(sys.argv[1]))["joint"][0]
assert joint["interval_from"] == "scatter"
for e, true in zip(joint["exponents"], (-0.5, -0.3)):
    assert 0.01 < e["interval95"][1] - e["interval95"][0] < 0.2, e
    assert e["interval95"][0] < true < e["interval95"][1], e
EOF
finish
