#!/usr/bin/env bash
# Usage: install.sh BUILD_DIR SOURCE_DIR. Installs into a scratch folder and builds a program against the result.
set -euo pipefail
build=$1
source=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cmake --install "$build" --prefix "$scratch/prefix" >/dev/null
cmake -S "$source/tests/install" -B "$scratch/build" -G Ninja -DCMAKE_PREFIX_PATH="$scratch/prefix" \
  -DCMAKE_CXX_COMPILER_LAUNCHER="$(command -v ccache || true)" >/dev/null
cmake --build "$scratch/build" >/dev/null
cd "$scratch"
fail() { echo "install.sh: $*" >&2; exit 1; }
build/consumer theory-only | grep -Eq '^0\.[0-9]{6}$' || fail "the theory gave no number"
build/consumer list | grep -q '^my-study ' || fail "the consumer's own study is not listed"
# The installed program finds its data without the source tree, and comes with its manual page.
prefix/bin/attica run gauss-double-descent --preset demo --replicates 10 --quiet --dry-run >/dev/null || fail "no data"
prefix/bin/attica doctor | grep -q "data_folder *$scratch/prefix/share/attica/data" || fail "wrong data folder"
[ -s prefix/share/man/man1/attica.1 ] || fail "no manual page"
