#!/usr/bin/env bash
# A theory written as text has the values of its equations, and a mistake in it is named with its place.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
# value FILE SERIES X: what `theory` prints there
value() {
  "$program" theory "$1" --json >printed.json 2>printed.err </dev/null || fail "$1: $(cat printed.err)"
  /usr/bin/python3 -c "import json; print(next(y for s in json.load(open('printed.json'))['series'] if s['name'] == '$2' for x, y in zip(s['x'], s['y']) if x == $3))"
}
near() { /usr/bin/python3 -c "import sys; sys.exit(abs($1 - $2) > $3 * abs($2))" || fail "$4: $1, expected $2"; }

cat >flow.toml <<'END'
study = "own"
x = "t"
[model]
m0 = 2.0
[sweep]
t = [0.5, 1.0, 3.0]
[theory.flow]
start = {m = "m0", "a[k]" = "1/k"}
rate = {m = "-m^3/2", "a[k]" = "-k*a[k]"}
each = {k = 3}
[theory.series]
m = "m"
third = "a[3]"
END
near "$(value flow.toml m 1.0)" "(1/4 + 1)**-0.5" 1e-8 flow
near "$(value flow.toml third 0.5)" "2.718281828459045**-1.5/3" 1e-8 index
# An unknown name, at its place, with the nearest one.
sed 's|-m^3/2|-mm^3/2|' flow.toml >unknown.toml
run 2 theory unknown.toml
says err "unknown.toml:9:"
says err "there is no 'mm', did you mean 'm"
sed 's|^start = .*|start = {m = "m0"}|; s|^each.*||; s|^third.*||; s|, "a\[k\]" = "-k.*|}|' flow.toml >one.toml
near "$(value one.toml m 3.0)" "(1/4 + 3)**-0.5" 1e-8 "one state"
sed 's|rate = |raet = |' one.toml >key.toml
run 2 theory key.toml
says err "unknown key 'raet' in [theory.flow]; did you mean 'rate'?"
sed 's|^rate = .*|rate = "-m"|' one.toml >table.toml
run 2 theory table.toml
says err "'rate' of [theory.flow]: expected a table by name"
sed 's|^start = .*||' one.toml >start.toml
run 2 theory start.toml
says err "[theory.flow] has no 'start'"
sed 's|-m^3/2|-2m|' one.toml >product.toml
run 2 theory product.toml
says err "a product has its *"
printf '[theory.let]\ng = "2*m"\n' | cat one.toml - >unused.toml
run 2 theory unused.toml
says err "nothing does"
# States with an index need the number of them; a state cannot have the name of a function.
sed '/^each/d' flow.toml >each.toml
run 2 theory each.toml
says err "each = {k = 50} with states that have an index k"
sed 's|{m = |{sin = |; s|-m^3/2|-sin|; s|^m = "m"|y = "1"|' one.toml >sine.toml
run 2 theory sine.toml
says err "theory.flow.rate.sin"
# A name that a binder binds is no number of the configuration.
printf 'study = "own"\nx = "t"\n[model]\na = 1.0\n[sweep]\nt = [1.0, 2.0]\n[theory]\nexpression = {y = "normal(a, a*t)"}\n' >bound.toml
run 2 theory bound.toml
says err "another name to bind: 'a' is a number of [model] or [sweep]"
sed 's|normal(a, a\*t)|a*s[t]|; s|^\[theory\]|[theory.lists]\ns = [5.0]\n[theory]|' bound.toml >element.toml
run 4 theory element.toml
says err "s[2]: expected an index from 1 to 1"
# What a margin cannot bear is computed with smaller tolerances, or told.
cat >chaos.toml <<'END'
study = "own"
x = "t"
[sweep]
t = [10, 44, 100]
[theory.map]
start = {m = 0.3}
next = {m = "4*m*(1 - m)"}
[theory.series]
m = "m"
[agreement.m]
relative = 0.01
END
run 0 theory chaos.toml
says err "the numerical error of the theory is above a third of its margin at m at t=44"
says err "no theory for m at t=100: no digit is certain"
# A singularity at t = 1/4: what lies behind has no theory, with its reason; without any, exit code 4.
sed 's|-m^3/2|m^3/2|; s|t = \[.*|t = [0.125, 0.5]|' one.toml >ends.toml
run 0 theory ends.toml
says err "no theory for m at t=0.5: the flow ends"
sed 's|t = \[.*|t = [0.5, 1.0]|' ends.toml >nothing.toml
run 4 theory nothing.toml
says err "the theory has no value at any point"

cat >solve.toml <<'END'
study = "own"
x = "b"
[sweep]
b = [1.5]
[theory.lists]
s = [1.0, 2.0]
[theory.solve]
unknowns = {m = 0.9}
fixed = {m = "tanh(b*m)"}
[theory.series]
m = "m"
pair = "m + mean(v, s, v)"
END
near "$(value solve.toml m 1.5)" 0.8585596366401103 1e-12 solve
near "$(value solve.toml pair 1.5)" 2.3585596366401103 1e-12 list
sed 's|^fixed|starts = [{m = "0.9"}, {m = "-0.9"}]\nbranches = true\nfixed|' solve.toml >branches.toml
run 0 theory branches.toml
says out "branch"
says out "-0.85855"
# What a run writes down gives the same run.
cat flow.toml - >run.toml <<'END'
[simulation]
expression = {m = "(1/m0^2 + t)^(-0.5)"}
[agreement.m]
relative = 0.01
END
run 0 run run.toml --out runs --name first
says out AGREE
run 0 run runs/first-*/config.toml --out again --name first
says out AGREE
# A start of 1e-20 next to an unstable point, and the logarithm of what has decayed below the tolerance.
cat >small.toml <<'END'
study = "own"
x = "t"
[sweep]
t = [10, 46, 100]
[theory.flow]
start = {m = "1e-20", q = "1"}
rate = {m = "m*(1 - m)", q = "-q"}
[theory.series]
m = "m"
log = "log(q)"
END
run 0 theory small.toml --json
cp out small.json
says err "no theory for log at t=100"
python 0 -c "
import json, math
series = {s['name']: dict(zip(s['x'], s['y'])) for s in json.load(open('small.json'))['series']}
for t, m in series['m'].items():
    grown = 1e-20*math.exp(t)
    assert abs(m/(grown/(1 - 1e-20 + grown)) - 1) < 1e-7, (t, m)
assert abs(series['log'][10] + 10) < 1e-6
"
# Iterations that fall to zero, at the critical point too.
cat >critical.toml <<'END'
study = "own"
x = "b"
[sweep]
b = [0.95, 0.999, 1.0]
[theory.solve]
unknowns = {m = "0.9"}
fixed = {m = "tanh(b*m)"}
[theory.series]
m = "m"
END
run 0 theory critical.toml
[ "$(grep -c ',m,theory,b,.*,0\(\.0\)*,' out)" = 3 ] || fail "not zero: $(cat out)"
finish
