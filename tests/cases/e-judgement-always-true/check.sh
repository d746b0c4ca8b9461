#!/usr/bin/env bash
# `assert attica.judge(...)` fails for a theory that is wrong, and names the point that is furthest off.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
python 1 assert.py
says out "DISAGREE"
grep -q "the assertion passed" out && fail "the assertion passed"
says err "AssertionError"
cat >more.py <<'PY'
import attica

def judged(factor, replicates):
    return attica.judge(theory=lambda n: factor / n, simulate=lambda n, rng: rng.normal(size=int(n)).mean() ** 2,
                        x=[4, 16], margin=0.1, replicates=replicates, out=None)

wrong, right = judged(2, 3000), judged(1, 6000)
print(bool(right), bool(wrong), repr(wrong))
for undecided in (judged(1, 3), attica.agreement([1.0], [[1.0, 1.1, 0.9]])):
    try:
        assert undecided
        print("passed")
    except attica.Error as error:
        print(error.exit_code, error)
PY
python 0 more.py
says out "True False DISAGREE"
grep -q "worst: y at x=4: simulation 0\.2[0-9.]* +- 0\.00[0-9]*, theory 0\.5 +- 0\.05" out || fail "no worst point: $(cat out)"
says out "3 the verdict is INCONCLUSIVE"
says out "2 the verdict is NONE"
finish
