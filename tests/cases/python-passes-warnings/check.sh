#!/usr/bin/env bash
# What a verb of the program warns of, its function in Python warns of.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
/usr/bin/python3 -c 'import numpy' 2>/dev/null && [ -d "$(dirname "$program")/python" ] || exit 77
printf 'x,value\n1,1\n2,2\n' >theory.csv
{ echo 'x,replicate,value'; for x in 1 2; do for r in 0 1 2 3 4 5 6 7 8 9; do echo "$x,$r,$x.0${r}25"; done; done; } |
  sed '4s/^/#/' >measured.csv
printf '0,1.5\n1,2.5\n2,0.5\n3,4.5\n4,0.25\n' >matrix.csv
cat >warn.py <<'PY'
import os
import warnings

import attica


def told(what, call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    texts = [str(w.message) for w in caught]
    assert any(what in text for text in texts), (what, texts)


comment = "measured.csv:4: a line that begins with '#' has as many fields as a row"
told(comment, lambda: attica.fit("measured.csv"))
told(comment, lambda: attica.bound("measured.csv", expression="9*x"))
told("the first column counts the rows, 0 to 4", lambda: attica.measure("matrix.csv"))
told(comment, lambda: attica.figure({"panels": [{"layers": [{"csv": os.path.abspath("measured.csv"), "series": "y"}]}]}, out="."))
PY
python 0 warn.py
finish
