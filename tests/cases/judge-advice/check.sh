#!/usr/bin/env bash
# Advice on tables is what their owner can do; a missing standard error is missing.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
run 3 judge theory.csv simulation.csv --margin 2% --out runs --name few
says out "replicates a point would decide"
if grep -q -- '--seed\|--replicates' out; then fail "judge has no such option"; fi
run 3 check runs/few-*
if grep -q -- '--seed\|--replicates' out; then fail "check has no such option"; fi
"$program" judge theory.csv zero.csv --margin 5% --out runs --name zero >out 2>err </dev/null
case $? in 2 | 3) ;; *) fail "a standard error of 0 or none decides" ;; esac
if grep -q 'seeds not used' out err; then fail "no replicate was seen"; fi
grep -q 'sem' out err || fail "the message does not name sem"
finish
