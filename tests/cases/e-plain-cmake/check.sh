#!/usr/bin/env bash
# What looks at the processor's registers or at the system compiles without -march and for other processors; the tests' build
# compiles each such source for any x86-64 (attica_any_processor), and CI builds the program by plain CMake.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
folders="core solvers theory sim plots studies sources app"
any=$(sed -n '/set(any_processor/,/)/p' "$project/tests/CMakeLists.txt")
# shellcheck disable=SC2086
for file in $(cd "$project" && grep -rlE 'attica/core/register\.hpp|immintrin\.h|__AVX|__SSE' $folders --include='*.cpp' | grep -v core/instructions); do
  grep -qF "$file" <<<"$any" || fail "$file looks at registers: add it to attica_any_processor in tests/CMakeLists.txt"
done
# Calls that one system alone has stand in one file.
# shellcheck disable=SC2086
(cd "$project" && grep -rnE '\b(prctl|pipe2|mallopt|sigtimedwait|close_range|execvpe|openpty)\(|"/proc/|<(pty|malloc)\.h>|<sys/prctl\.h>' $folders \
  --include='*.cpp' --include='*.hpp' | grep -v '^core/platform\.') >out && fail "outside core/platform.cpp: $(cat out)"
for compiler in "g++ -march=x86-64" "aarch64-linux-gnu-g++"; do
  command -v "${compiler%% *}" >/dev/null || continue
  for file in core/instructions.cpp core/platform.cpp; do
    # shellcheck disable=SC2086
    $compiler -std=c++20 -fsyntax-only -Wall -Wextra -I "$(dirname "$program")/include/core" "$project/$file" >out 2>&1 ||
      fail "$compiler of $file: $(head -5 out)"
    silent out
  done
done
for step in build_plain "./dev test"; do grep -rqF "$step" "$project/dev" "$project/.ci/run" || fail "CI does not run $step"; done
finish
