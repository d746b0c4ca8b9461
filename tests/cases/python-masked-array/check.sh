#!/usr/bin/env bash
# Masked values are replicates that failed: neither means nor verdict use what lies beneath the mask.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
python 0 masked.py
says out "INCONCLUSIVE"
cat >more.py <<'PY'
import numpy as np

import attica

rng = np.random.default_rng(1)
values = np.array([x * (1 + 0.01 * rng.normal(size=40)) for x in (1, 2, 3)])
failed = rng.random(values.shape) < 0.3
truth = [values[k][~failed[k]].mean() for k in range(3)]
values[failed] = -1.0
masked = np.ma.array(values, mask=failed)
for judged in (attica.judge(theory=[1, 2, 3], simulate=masked, x=[1, 2, 3], margin=0.05, out=None),
               attica.agreement([1, 2, 3], masked, 0.05),
               attica.agreement([1, 2, 3], list(masked), 0.05)):
    assert np.allclose([p["mean"] for p in judged.points], truth, rtol=1e-12), judged.points
    assert judged.verdict == "INCONCLUSIVE" and judged.record["counts"]["failed"] == 3
    assert all("failed" in p["reason"] for p in judged.points), judged.points
one = np.ma.array([1, 2, 3], mask=[False, True, False])
for given in ({"theory": one, "x": [1, 2, 3]}, {"theory": [1, 2, 3], "x": one}):
    try:
        attica.judge(simulate=values, margin=0.05, out=None, **given)
        print("not refused")
    except attica.Error as error:
        print(error)
PY
python 0 more.py
grep -q "not refused" out && fail "a masked theory or x is used"
says out "theory of 'y' is nan at x = 2.0"
says out "parameter 'x'"
finish
