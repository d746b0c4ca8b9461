#!/usr/bin/env bash
# Where a theory is infinite it has no row: `attica theory` says where.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
printf 'x = "x"\n[sweep]\nx = [1.0, 2.0, 4.0]\n[theory.expression]\ny = "1/(x - 1)"\n' >pole.toml
run 0 theory pole.toml
says err "the theory of y is infinite at x=1: not printed"
[ "$(grep -c ',theory,' out)" = 2 ] || fail "$(cat out)"
sed 's|1/(x - 1)|exp(1000*x)|' pole.toml >large.toml
run 0 theory large.toml
says err "the theory of y is infinite at x=1, and 2 more: not printed"
sed 's|1/(x - 1)|1/x|' pole.toml >finite.toml
run 0 theory finite.toml
silent err
finish
