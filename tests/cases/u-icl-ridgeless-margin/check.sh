#!/usr/bin/env bash
# Without a penalty icl-double-descent runs: points whose theory has no bounded allowance are drawn, and not compared.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
"$program" run icl-double-descent --set 'sweep.lambda=[0.0]' --replicates 4 --name ridgeless >out 2>err </dev/null
case $? in
  0 | 1 | 3) ;;
  *) fail "$(cat err)" ;;
esac
says out "not compared"
! grep -q margin err || fail "an internal name: $(cat err)"
finish
