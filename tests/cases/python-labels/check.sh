#!/usr/bin/env bash
# Labels of pandas and xarray say which x a value belongs to, whatever type they have; equations keep the order of x.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
/usr/bin/python3 -c 'import pandas, xarray' 2>/dev/null || exit 77
cat >labels.py <<'PY'
import decimal

import numpy as np
import pandas as pd
import xarray as xr

import attica

rng = np.random.default_rng(1)
x = [0.1, 0.2, 0.4]
simulated = np.array([[1.0], [2.0], [4.0]]) * (1 + 0.01 * rng.normal(size=(3, 40)))
back = [0.4, 0.2, 0.1]
labelled = {
    "objects": pd.Index(back, dtype=object),
    "text": pd.Index(["0.4", "0.2", "0.1"]),
    "single precision": np.array(back, dtype="f4"),
    "rounded": np.nextafter(back, 1),
    "decimal": [decimal.Decimal(str(v)) for v in back],
    "one level": pd.MultiIndex.from_arrays([back]),
    "two levels": pd.MultiIndex.from_arrays([[1, 1, 1], back]),
}
theories = {name: pd.Series([4.0, 2.0, 1.0], index=index) for name, index in labelled.items()}
theories["xarray"] = xr.DataArray([4.0, 2.0, 1.0], dims="alpha", coords={"alpha": np.array(back, dtype="f4")})
for name, theory in theories.items():
    judged = attica.judge(theory=theory, simulate=simulated, x=x, margin=0.05, out=None)
    assert judged.verdict == "AGREE" and [p["theory"] for p in judged.points] == [1, 2, 4], (name, judged.points)
turned = xr.DataArray(simulated.T, dims=("run", "alpha"), coords={"alpha": np.array(x, dtype="f4")})
assert attica.judge(theory=[1, 2, 4], simulate=turned, x=x, margin=0.05, out=None).verdict == "AGREE"
# Labels of their own say nothing; some of the x, and not all, are refused.
for index in (["a", "b", "c"], [7, 8, 9], [True, False, True]):
    theory = pd.Series([1.0, 2.0, 4.0], index=index)
    assert attica.judge(theory=theory, simulate=simulated, x=x, margin=0.05, out=None).verdict == "AGREE", index
try:
    attica.judge(theory=pd.Series([1.0, 2.0, 4.0], index=["0.1", "0.2", "9"]), simulate=simulated, x=x, margin=0.05, out=None)
    raise SystemExit("not refused")
except attica.Error as error:
    assert "the labels of a Series" in str(error), error

# Two labelled arrays without x: rows by their labels.
frame = pd.DataFrame(simulated, index=["a", "b", "c"])
assert attica.agreement(pd.Series([4.0, 2.0, 1.0], index=["c", "b", "a"]), frame, 0.05).verdict == "AGREE"
assert attica.agreement(pd.Series([1.0, 2.0, 4.0]), frame, 0.05).verdict == "AGREE"
try:
    attica.agreement(pd.Series([1.0, 2.0, 4.0], index=["a", "b", "d"]), frame, 0.05)
    raise SystemExit("not refused")
except attica.Error as error:
    assert "the labels of the rows" in str(error), error

# Equations at falling x.
equations = {"unknowns": {"m": "0.9"}, "fixed": {"m": "tanh(beta*m/k)"}, "series": {"m": "m"}}
rising = attica.solve(equations, beta=[1.5, 2.0], k=1.0)["m"]
falling = attica.solve(equations, beta=[2.0, 1.5], k=1.0)["m"]
assert falling.x.tolist() == [2.0, 1.5] and np.array_equal(falling.y, rising.y[::-1]), (falling.x, falling.y)
assert np.array_equal(falling[0].numerical_error, rising[0].numerical_error[::-1])
decay = attica.flow({"start": {"m": "1"}, "rate": {"m": "-m"}, "series": {"m": "m"}}, t=[2.0, 0.5])["m"]
assert decay.x.tolist() == [2.0, 0.5] and np.allclose(decay.y, np.exp([-2.0, -0.5]), rtol=1e-8), decay.y

# A file whose name begins with a dash.
rows = [(n, r, 3 * n * (1 + 0.01 * rng.normal())) for n in (4, 8, 16, 32) for r in range(10)]
pd.DataFrame(rows, columns=["n", "replicate", "value"]).to_csv("-d.csv", index=False)
assert abs(attica.fit("-d.csv", x="n")["exponents"][0]["fitted"]["exponent"] - 1) < 0.05
print("all")
PY
python 0 labels.py
says out "all"
finish
