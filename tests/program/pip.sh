#!/usr/bin/env bash
# A source distribution, `pip install --no-build-isolation` of it into a virtual environment, and the package away from its
# sources.   pip.sh PROGRAM PROJECT_FOLDER PYTHON
#
# The distribution must hold every source and configure by itself; what is compiled in PROGRAM's folder already is used, as
# its sources are the same, byte for byte. With ATTICA_SLOW in the environment all of it is compiled.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
python=$3
unset PYTHONPATH PYTHONDONTWRITEBYTECODE
"$python" -c 'import setuptools, pip, venv, wheel' 2>/dev/null || {
  echo "SKIPPED: no pip, setuptools, venv and wheel here" >&2
  exit 77
}
# setuptools writes into the folder that it packs: a copy, of what is not built.
mkdir source
tar -C "$project" --exclude=./build --exclude='./build-*' --exclude=./runs --exclude=./.git -cf - . | tar -C source -xf -
(cd source && "$python" setup.py -q sdist -d "$work/dist") >out 2>err || fail "sdist: $(tail -5 err)"
[ "$(ls dist)" = "attica-$("$program" --version | grep -oE '[0-9]+[.][0-9]+[.][0-9]+' | head -1).tar.gz" ] || fail "wrote $(ls dist)"
tar -xf dist/*.tar.gz
unpacked=$(echo "$work"/attica-*)
for folder in app cmake core data loaders packaging plots python sim solvers studies theory third_party; do
  diff -r --exclude=__pycache__ "source/$folder" "$unpacked/$folder" >difference || fail "$folder in the distribution: $(head -5 difference)"
done
grep -q '^Author: ' "$unpacked/PKG-INFO" || fail "no author: $(cat "$unpacked/PKG-INFO")"
cmake -S "$unpacked" --preset release -B configured -DATTICA_PYTHON=ON "-DPython3_EXECUTABLE=$python" -DATTICA_TESTS=OFF \
  -DATTICA_BENCH=OFF -DATTICA_MPI=OFF >out 2>err || fail "the distribution does not configure: $(tail -5 err)"
build=$(dirname "$program")
[ -n "${ATTICA_SLOW:-}" ] || export ATTICA_BUILD=$build
"$python" -m venv --system-site-packages environment || fail "no virtual environment"
environment/bin/pip install --quiet --no-build-isolation --no-deps --no-index dist/*.tar.gz >out 2>err || fail "pip: $(tail -5 err)"
environment/bin/attica run gauss-double-descent --preset demo --replicates 4 --dry-run >out 2>err || fail "no data: $(cat err)"
environment/bin/attica doctor >out || fail "doctor"
grep -q "data_folder *$work/environment/.*/attica/data" out || fail "wrong data folder"
cat >script.py <<'EOF'
import sys
import attica
assert attica.__file__.startswith(sys.prefix), attica.__file__
print(attica.run("gauss-double-descent", sites=20, alpha=2.0, replicates=20, margin=0.3, progress=False).verdict)
EOF
[ "$(environment/bin/python script.py 2>err)" = AGREE ] || fail "the package does not run: $(tail -3 err)"
finish
