#!/usr/bin/env bash
# `pip install --no-build-isolation .` into a virtual environment, and the package away from its sources.   pip.sh PROGRAM PROJECT_FOLDER PYTHON
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
python=$3
unset PYTHONPATH PYTHONDONTWRITEBYTECODE
"$python" -c 'import setuptools, pip, venv, wheel' 2>/dev/null || {
  echo "SKIPPED: no pip, setuptools, venv and wheel here" >&2
  exit 77
}
"$python" -m venv --system-site-packages environment || fail "no virtual environment"
environment/bin/pip install --quiet --no-build-isolation --no-deps --no-index "$project" >out 2>err || fail "pip: $(tail -5 err)"
environment/bin/attica run gauss-double-descent --preset demo --replicates 4 --dry-run >out 2>err || fail "no data: $(cat err)"
environment/bin/attica doctor >out || fail "doctor"
grep -q "data_folder *$work/environment/.*/attica/data" out || fail "wrong data folder"
cat >script.py <<'END'
import sys
import attica
assert attica.__file__.startswith(sys.prefix), attica.__file__
print(attica.run("gauss-double-descent", sites=20, alpha=2.0, replicates=20, margin=0.3, progress=False).verdict)
END
[ "$(environment/bin/python script.py 2>err)" = AGREE ] || fail "the package does not run: $(tail -3 err)"
finish
