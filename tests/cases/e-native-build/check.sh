#!/usr/bin/env bash
# A build of one processor says on another what it lacks, before anything else runs.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
[ "$(uname -m)" = x86_64 ] && command -v qemu-x86_64 >/dev/null || exit 77
grep -q '^instructions.*AVX2' <<<"$("$program" doctor)" || exit 77 # built for any processor
for verb in doctor --version "theory gauss-lambda"; do
  # shellcheck disable=SC2086
  qemu-x86_64 -cpu Nehalem-v1 "$program" $verb >out 2>err </dev/null
  code=$?
  [ $code -eq 2 ] || fail "attica $verb on an older processor: exit code $code, expected 2"
  says err "attica was built for a processor with AVX"
  says err "-DATTICA_MARCH=x86-64-v3"
  silent out
done
if [ -d "$(dirname "$program")/python/attica" ]; then
  export PYTHONPATH="$(dirname "$program")/python"
  qemu-x86_64 -cpu Nehalem-v1 /usr/bin/python3 -c 'import importlib.util, sys
for name in "numpy", "numpy.core": pass
import types; sys.modules["numpy"] = types.ModuleType("numpy")  # of its own processor
import attica' >out 2>err </dev/null
  code=$?
  [ $code -eq 1 ] || fail "import attica on an older processor: exit code $code, expected 1"
  says err "ImportError: attica was built for a processor with AVX"
fi
finish
