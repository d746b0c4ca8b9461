#!/usr/bin/env bash
# A dry run that is over before a replicate is done limits disk and memory from below by the number of values.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
# 4^7 states: more than the first few seconds, less than the minute.
run 0 run potts-learning --set model.sites=7 --set model.colours=4 --set 'sweep.beta=[0.5]' --dry-run
grep -q "^time  *about" out || fail "$(cat out)"
grep -q "disk  *.* 0.0 MB" out && fail "$(cat out)"
finish
