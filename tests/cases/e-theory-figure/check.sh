#!/usr/bin/env bash
# A theory's figure has the panels that have a theory, and a remark on the others.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
cat >script.py <<'PY'
import re

import attica

for study in ("joma-softmax", "icl-training", "potts-sampler", "joma-invariants"):
    svg = attica.theory(study).figure().data.decode().replace("&#39;", "'")
    print(study, svg.count("<path") > 10, *re.findall(r"no theory is drawn in panels? [^<]*", svg)[:1])
shown = attica.theory("topics-embedding")._repr_html_()
print("image/svg+xml" in shown)
PY
python 0 script.py
says out "joma-softmax True no theory is drawn in panels (f), (g), (h) of a run's figure"
says out "icl-training True no theory is drawn in panel (b) of a run's figure"
says out "potts-sampler True no theory is drawn in panels (b), (c) of a run's figure"
grep -q "^joma-invariants True" out || fail "joma-invariants: $(cat out)"
grep -qx True out || fail "a notebook shows no figure: $(cat out)"
finish
