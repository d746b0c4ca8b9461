#!/usr/bin/env bash
# A call that gives nan is one failed replicate: its point is undecided, the others are judged, all calls are kept.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
python 0 diverges.py
says out "INCONCLUSIVE: 2 of 3 points agree"
says out "1 of 40 replicates failed"
cat >more.py <<'PY'
import numpy as np

import attica

calls = 0


def train(x, rng):
    global calls
    calls += 1
    return float("nan") if calls == 95 else x * (1 + 0.01 * rng.normal())


run = attica.judge(theory=lambda x: x, simulate=train, x=[1, 2, 3], margin=0.05, replicates=40, progress=False)
print(calls, [(p["x"], p["verdict"], p["n"]) for p in run.points])
rng = np.random.default_rng(0)
array = np.outer([1, 2, 3], np.ones(40)) * (1 + 0.01 * rng.normal(size=(3, 40)))
array[1, 31] = np.inf
frame = {"x": np.repeat([1, 2, 3], 40), "replicate": np.tile(np.arange(40), 3), "value": array.ravel()}
for given in ({"simulate": array, "x": [1, 2, 3]}, {"simulate": frame}):
    theory = {"x": [1, 2, 3], "value": [1, 2, 3]}
    for out in (None, "runs"):
        judged = attica.judge(theory=theory, margin=0.05, out=out, **given)
        assert [p["n"] for p in judged.points] == [40, 39, 40], judged.points
        assert [p["verdict"] for p in judged.points] == ["AGREE", "INCONCLUSIVE", "AGREE"]


def breaks(x, rng):
    global calls
    calls += 1
    if calls == 50:
        raise ZeroDivisionError("mine")
    return x * (1 + 0.01 * rng.normal())


calls = 0
try:
    attica.judge(theory=lambda x: x, simulate=breaks, x=[1, 2, 3], margin=0.05, replicates=40, name="broken")
except ZeroDivisionError as error:
    print(len(error.simulated), error.__notes__[0])
    rows = error.simulated
whole = attica.judge(theory=lambda x: x, simulate=breaks, x=[1, 2, 3], margin=0.05, replicates=40, known=rows, out=None)
print(calls, whole.verdict)
PY
python 0 more.py
says out "120 [(1.0, 'AGREE', 40), (2.0, 'INCONCLUSIVE', 39), (3.0, 'AGREE', 40)]"
says out "49 attica: the 49 values simulated so far"
says out "runs/broken-unfinished.csv"
says out "121 AGREE"
finish
