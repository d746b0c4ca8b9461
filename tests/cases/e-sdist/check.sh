#!/usr/bin/env bash
# The source distribution holds what it is built from, and says who made it. tests/program/pip.sh installs it.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
/usr/bin/python3 -c 'import setuptools' 2>/dev/null || { echo "SKIPPED: no setuptools here" >&2; exit 0; }
mkdir source
tar -C "$project" --exclude=./build --exclude='./build-*' --exclude=./runs --exclude=./.git --exclude=./docs -cf - . | tar -C source -xf -
(cd source && /usr/bin/python3 setup.py -q sdist -d ../dist) >out 2>err || fail "sdist: $(tail -3 err)"
tar -xf dist/attica-*.tar.gz
unpacked=$(echo attica-*)
for folder in app cmake core data plots python sim solvers studies theory third_party; do
  diff -rq --exclude=__pycache__ "source/$folder" "$unpacked/$folder" >difference || fail "$folder: $(head -3 difference)"
done
for file in CMakeLists.txt CMakePresets.json LICENSE README.md pyproject.toml setup.py packaging/cpack.cmake; do present "$unpacked/$file"; done
grep -q '^Author: the attica authors' "$unpacked/PKG-INFO" || fail "no author: $(head -12 "$unpacked/PKG-INFO")"
for tool in setuptools pybind11 cmake ninja; do grep -q "^requires = .*\"$tool" "$unpacked/pyproject.toml" || fail "$tool is not required"; done
finish
