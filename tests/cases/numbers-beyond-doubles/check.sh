#!/usr/bin/env bash
# Numbers that no double holds, wherever they are read: what is too small is 0 and a remark says so, or is refused where a
# user types it; what is too large is refused, and not infinite.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
printf 'x,value\n1,1\n2,2\n' >theory.csv
printf 'x,mean,sem,n\n1,1,0.01,20\n2,2,0.01,20\n' >good.csv
tables() { # tables NUMBER: the number in every kind of table
  printf 'x,value\n1,1\n2,%s\n' "$1" >other.csv
  printf 'x,mean,sem,n\n1,1,0.01,20\n2,%s,0.01,20\n' "$1" >means.csv
  printf 'a,x,mean,sem,n\n%s,1,1,0.01,20\n' "$1" >coordinate.csv
  printf 'a,x,value\n%s,1,1\n' "$1" >curve.csv
  printf 'x,mean,sem,n\n%s,1,0.01,20\n1,1,0.01,20\n' "$1" >place.csv
  printf '[{"x": 1, "value": %s}, {"x": 2, "value": 2}]' "$1" >other.json
  printf '1,%s\n3,4\n' "$1" >matrix.csv
  printf '%s,1\n3,4\n' "$1" >first.csv
  printf 'x,replicate,value\n1,0,%s\n1,1,2\n2,0,1\n2,1,2\n4,0,1\n4,1,2\n' "$1" >sizes.csv
  printf 'formats = ["svg"]\n[[panels]]\nlayers = [{csv = "other.csv"}]\n' >figure.toml
}
# each READER...: what is run on these tables.
each() {
  "$@" judge other.csv good.csv --margin 5% --absolute 1
  "$@" judge theory.csv means.csv --margin 5% --absolute 1
  "$@" judge curve.csv coordinate.csv --margin 5% --absolute 1
  "$@" judge theory.csv place.csv --margin 5% --absolute 1
  "$@" judge other.json good.csv --margin 5% --absolute 1
  "$@" measure matrix.csv
  "$@" measure first.csv
  "$@" bound sizes.csv --expression '3*x'
  "$@" figure figure.toml
}
read_as_zero() {
  "$program" "$@" >out 2>err </dev/null
  says err "too small for a double, of which the least is 5e-324, and read as 0"
}
refused_as_large() {
  run 2 "$@"
  says err "no double holds"
}
silently() {
  "$program" "$@" >out 2>err </dev/null
  ! grep -q "double" err || fail "$*: $(cat err)"
}
for number in 1e-400 -1E-400 2e-324 0.0000001e-320; do
  tables "$number"
  each read_as_zero
done
says err "warning: other.csv:3: 0.0000001e-320 is too small"
for number in 1e400 -1E400 12345678901e300; do
  tables "$number"
  each refused_as_large
  run 2 fit sizes.csv
  says err "no double holds it"
done
for number in 0 -0.0 0e0 0.0e-999 0e999 5e-324 1.7976931348623157e308; do
  tables "$number"
  each silently
done
printf 'x,replicate,value\n1,0,1e-400\n1,1,-1e-400\n2,0,1\n2,1,2\n' >sizes.csv
run 1 bound sizes.csv --expression '0.5*x' --direction lower
says err "sizes.csv:2: 1e-400 and 1 more are too small"

# What a user types, or an assistant sends.
for number in 1e-400 -1e-400 2e-324 1e400; do
  printf 'x = "a"\n[model]\n# 1e-400 in a comment\nk = %s\n[sweep]\na = [1.0]\n[theory]\nexpression = "k*a"\n' "$number" >own.toml
  run 2 theory own.toml
  says err "own.toml:4:"
  says err "$number"
  printf 'x = "a"\n[model]\nname = "ü 1e-400"\nlist = {a = 0.0, "ü" = %s}\n' "$number" >own.toml
  run 2 theory own.toml
  says err "$number"
  printf 'x = "a"\n[model]\nname = "1e-400"\nk = 1.0\n[sweep]\na = [1.0]\n[theory]\nexpression = "k*a"\n' >own.toml
  run 2 theory own.toml --set "model.k=$number"
  says err "$number"
  run 2 theory own.toml --set "sweep.a=[1.0, $number]"
  says err "$number"
done
run 0 theory own.toml --set model.k=5e-324
says out 'own,y,theory,a,1,5e-324'
for zero in 0e0 0.0e-999 -0.0; do
  run 0 theory own.toml --set "model.k=$zero"
done
printf '%s\n' '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "theory", "arguments": {"target": "own.toml", "set": {"model.k": 1e-400}}}}' >in
"$program" mcp <in >out 2>err
says out "no double holds"

cat >beyond.py <<'PY'
import decimal
import warnings

import attica
import numpy as np

warnings.simplefilter("always")
good = np.array([1.0, 2.0])[:, None] * (1 + 0.01 * np.random.default_rng(1).normal(size=(2, 30)))


def asked(number):
    question = dict(x=[1, 2], margin=0.05, absolute=3, out=None)
    yield lambda: attica.judge(theory=[1, 2], simulate=lambda x, rng: number, **question)
    yield lambda: attica.judge(theory=[1, number], simulate=good, **question)
    yield lambda: attica.judge(theory=[1, 2], simulate=[good[0], [number, *good[1][1:]]], **question)
    if isinstance(number, np.generic):
        yield lambda: attica.judge(theory=np.array([1, number]), simulate=good, **question)


for small in ("1e-400", "-1E-400", decimal.Decimal("1E-400"), np.longdouble("1e-400")):
    for ask in asked(small):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            ask()
        assert any("too small for a double: read as 0" in str(w.message) for w in said), (small, said)
for large in ("1e400", decimal.Decimal("1E+400"), np.longdouble("1e400")):
    for ask in asked(large):
        try:
            ask()
        except attica.Error as error:
            assert "no double holds" in str(error), error
        else:
            raise AssertionError(large)
for fine in ("0", "0e-999", "inf", "5e-324", decimal.Decimal(0), np.longdouble(0)):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        attica.judge(theory=[1, 2], simulate=lambda x, rng: fine, x=[1, 2], margin=0.05, out=None)
    assert not any("double" in str(w.message) for w in said), (fine, said)
PY
python 0 beyond.py

# Integers beyond 2^53 as x: two of them would be one.
printf 'x,replicate,value\n1700000000123456789,0,1\n1700000000123456790,1,1\n' >nanoseconds.csv
run 2 bound nanoseconds.csv --expression 'x'
says err "a whole number that a double holds"
finish
