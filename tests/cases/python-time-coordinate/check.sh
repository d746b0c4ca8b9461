#!/usr/bin/env bash
# A time is a coordinate as text, as a table has it.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
python 0 time.py
says out "AGREE: 2 of 2 points"
cat >more.py <<'PY'
import numpy as np
import pandas as pd

import attica

noise = np.random.default_rng(1).normal(size=30)
rows = [{"day": pd.Timestamp("2024-01-01", tz="Europe/Berlin"), "x": 1.0, "replicate": r, "value": 1 + 0.001 * noise[r]} for r in range(30)]
theory = [{"day": pd.Timestamp("2024-01-01", tz="Europe/Berlin"), "x": 1.0, "value": 1.0}]
for out in (None, "runs"):
    j = attica.judge(theory=pd.DataFrame(theory), simulate=pd.DataFrame(rows), margin=0.05, out=out)
    print(j.verdict, j.points[0]["day"])
rows[3]["day"] = theory[0]["day"] = object()
try:
    attica.judge(theory=theory, simulate=rows, margin=0.05, out=None)
except attica.Error as error:
    print(error)
PY
python 0 more.py
says out "AGREE 2024-01-01 00:00:00+01:00"
says out "theory: row 0 of column 'day' is <object object"
[ "$(grep -c 2024-01-01 out)" = 2 ] || fail "in process and by the program: $(cat out)"
finish
