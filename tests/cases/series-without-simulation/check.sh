#!/usr/bin/env bash
# A series of the theory that nothing was measured of is named, and so is a table that is compared with itself.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
printf 'x,series,value\n1,loss,3\n1,accuracy,0.5\n' >theory.csv
{ echo x,series,replicate,value; for r in 0 1 2 3 4 5 6 7 8 9; do echo "1,loss,$r,3.0$r"; done; } >simulation.csv
run 0 judge theory.csv simulation.csv --margin 10% --independent
says err "theory.csv: no simulation of series accuracy, which is not compared"
run 0 judge simulation.csv simulation.csv --margin 10% --independent --name itself
says err "simulation.csv and simulation.csv have the same content: the simulation is compared with itself"
python 0 - <<'END_OF_PYTHON' || fail "$(cat err)"
import warnings

import attica

with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    attica.judge(theory=lambda x: {"a": x, "b": 2 * x}, simulate=lambda x, rng: {"a": x + 0.01 * rng.normal()}, x=[1, 2],
                 margin=0.1, replicates=12, out=None)
assert any("no simulation of b" in str(w.message) for w in said), [str(w.message) for w in said]
END_OF_PYTHON
finish
