#!/usr/bin/env bash
# One run of every study with one parameter where numbers end (tests/reliability/values --corners has all): it ends in a verdict,
# a refusal that names the parameter, or a numerical failure that names point and parameter; by no signal, with no NaN in a table.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
python3 "$project/tests/reliability/values" --corners --runs-only --each 1 --seconds 0.1 --program "$program" >out 2>err ||
  fail "$(grep -v '^[a-z0-9-]*: [0-9]* runs$' out | head -20; tail -3 err)"
grep -qE '^[0-9]+ runs of [0-9]+ studies, 0 ended badly' out || fail "no sweep: $(tail -3 out)"
finish
