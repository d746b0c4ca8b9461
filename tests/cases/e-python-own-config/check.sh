#!/usr/bin/env bash
# Python runs configurations of study own and with [[bound]], whose study belongs to the configuration.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
cat >script.py <<'PY'
import sys
import attica

project = sys.argv[1]
r = attica.run(project + "/examples/own/formula.toml", progress=False, replicates=4)
print(r.verdict, len(r.points))
assert all(abs(p["theory"] - t.y[list(t.x).index(p["x"])]) < 1e-12 for p in r.points for t in attica.theory(project + "/examples/own/formula.toml").curves)
print([p["key"] for p in attica.parameters("bound.toml")][:1], len(attica.theory("bound.toml").curves) > 0)
bound = attica.run("bound.toml", progress=False, replicates=20)
print(bound.study, (bound.folder / "check.json").exists())
PY
python 0 script.py "$project"
says out "INCONCLUSIVE 5"
says out "True"
says out "potts-learning True"
finish
