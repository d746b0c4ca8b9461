#!/usr/bin/env bash
# Installs into a scratch folder, and builds the examples and what `attica new` writes against the result.   install.sh BUILD_DIR SOURCE_DIR
set -euo pipefail
build=$1
source=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
fail() { echo "install.sh: $*" >&2; exit 1; }
cmake --install "$build" --prefix "$scratch/prefix" >/dev/null

# Nothing of the source tree but the examples themselves is seen.
for example in library spiked-ridge own-model; do
  cp -r "$source/examples/$example" .
  cmake -S $example -B $example/build -G Ninja -DCMAKE_PREFIX_PATH="$scratch/prefix" \
    -DCMAKE_CXX_COMPILER_LAUNCHER="$(command -v ccache || true)" >/dev/null
  cmake --build $example/build >build.log || fail "$example does not build: $(cat build.log)"
done

[ "$(library/build/double-descent | grep -Ec '^[0-9]+,[0-9]\.[0-9]{6}$')" -eq 5 ] || fail "the library gave no numbers"
[ "$(library/build/any-study gauss-overlaps model.rho=0.3 | cut -f 1 | sort -u | wc -l)" -ge 2 ] || fail "no theory of a study by its name"
library/build/any-study gauss-overlaps model.rho=2 2>err && fail "the library takes rho = 2"
grep -q "model.rho" err || fail "the library on rho = 2: $(cat err)"

# By pkg-config, without CMake; the description says where it lies itself.
if command -v pkg-config >/dev/null; then
  export PKG_CONFIG_PATH=$(dirname "$(find "$scratch/prefix" -name attica.pc)")
  flags=$(pkg-config --cflags --libs attica) || fail "pkg-config finds no attica"
  cat >tiny.cpp <<'END'
#include <cstdio>
#include "attica/core/gauss/ensembles.hpp"
#include "attica/theory/gauss/ridge.hpp"
int main() {
  const attica::GaussianRidge ridge(attica::GaussianMlm(attica::ar1_covariance(9, 0.5)));
  std::printf("%.4f\n", ridge.average(20, 0.1).test_error);
}
END
  # shellcheck disable=SC2086
  c++ tiny.cpp -o tiny $flags || fail "the library does not link by pkg-config"
  grep -Eq '^0\.[0-9]{4}$' <<<"$(./tiny)" || fail "no number by pkg-config: $(./tiny)"
fi

# The matcher in a test of GoogleTest, where that is installed: a right theory passes, a wrong one fails with its point.
if pkg-config --exists 'gmock_main >= 1.11' 2>/dev/null; then
  mean=$source/examples/workflows/googletest/mean_test.cpp
  { cat "$mean"; sed 's/MeanIsOneHalf/MeanIsAnother/; s/Agrees(0\.5,/Agrees(0.6,/' "$mean"; } >mean_test.cpp
  # shellcheck disable=SC2046
  c++ mean_test.cpp -o mean_test $(pkg-config --cflags --libs attica gmock_main) || fail "no test of GoogleTest by the matcher"
  ./mean_test >out && fail "a wrong theory passes: $(cat out)"
  grep -q 'OK \] Uniform.MeanIsOneHalf' out && grep -q 'FAILED  \] Uniform.MeanIsAnother' out &&
    grep -q 'DISAGREE, 0 of 1 points agree; value 0: simulation 0\.[0-9]* +- 0\.[0-9]*, theory 0\.6' out || fail "GoogleTest says: $(cat out)"
fi

spiked=spiked-ridge/build/spiked-ridge
$spiked run spiked-ridge --quiet >out || fail "the theory of the example does not agree: $(cat out)"
# With 4 inputs the limit of many is not reached, and must not be found to be.
code=0
$spiked gallery --out gallery >out || code=$?
[ $code -eq 0 ] || fail "the example's gallery is not as expected: $(cat out)"
grep -q '^DISAGREE *spiked-ridge-small' out || fail "small p goes unnoticed: $(cat out)"
[ -s gallery/index.html ] && [ -s gallery/gallery.json ] || fail "no gallery page"
$spiked run spiked-ridge --set model.alignment=2 2>err && fail "bad input is accepted"
grep -q "parameter 'model.alignment' = 2: expected 0 <= alignment <= 1" err || fail "bad input: $(cat err)"
$spiked list >out && grep -q "^gauss" out && fail "an own program lists attica's studies"

# A model by its loss and its law: right as it stands, and the theory of another rate is not.
own=own-model/build/own-model
$own run own-model --quiet >out || fail "the model of the example does not agree: $(cat out)"
grep -q '^AGREE: 6 of 6 points' out || fail "own-model compares something else: $(cat out)"
$own check runs/own-model-* --perturb sim.eta=0.11 >out 2>&1 || true
grep -q '^DISAGREE' out || fail "a rate 10 % off is not found: $(cat out)"

# A new study builds as it is written, comes to AGREE, and is not written twice.
prefix/bin/attica new my-study >out || fail "no new study"
cmake -S my-study -B my-study/build -G Ninja -DCMAKE_PREFIX_PATH="$scratch/prefix" -DCMAKE_CXX_FLAGS=-Werror=all \
  -DCMAKE_CXX_COMPILER_LAUNCHER="$(command -v ccache || true)" >/dev/null
cmake --build my-study/build >build.log || fail "the new study does not build: $(cat build.log)"
ctest --test-dir my-study/build --output-on-failure >out || fail "the new study does not agree: $(cat out)"
my-study/build/my-study run my-study --quiet >out
grep -q '^AGREE: 5 of 5 points' out || fail "the new study compares something else"
code=0
prefix/bin/attica new my-study 2>err || code=$?
[ $code -eq 5 ] && grep -q "'my-study' exists" err || fail "a study is written twice: exit code $code, $(cat err)"

# The installed program finds its data without the source tree, and comes with its manual page.
prefix/bin/attica run gauss-double-descent --preset demo --replicates 10 --quiet --dry-run >/dev/null || fail "no data"
prefix/bin/attica doctor >out
grep -q "data_folder *$scratch/prefix/share/attica/data" out || fail "wrong data folder"
[ -s prefix/share/man/man1/attica.1 ] || fail "no manual page"
[ -s prefix/share/attica/loaders/attica.py ] || fail "no loaders"
