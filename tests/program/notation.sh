#!/usr/bin/env bash
# The notation table names every series and parameter of every study, and nothing else.   notation.sh PROGRAM PROJECT_FOLDER
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

"$program" list | while read -r study _; do "$program" show "$study"; done |
  awk '/^[A-Z]/ { section = $1 }
       section == "Parameters" && /^  [a-z]+[.]/ { sub(/^.*[.]/, "", $1); print $1 }
       section == "Series" && /^  [A-Za-z]/ { print $1 }' | sort -u >used
awk -F' [|] ' '/^[|]/ { print $2 }' "$project/docs/notation.md" | grep -oE '`[^`]+`' | tr -d '`' | sort -u >written
[ "$(wc -l <used)" -gt 100 ] || fail "the program names no series"
comm -23 used written >missing
[ ! -s missing ] || fail "not in docs/notation.md: $(tr '\n' ' ' <missing)"
# What is not shown is at least a name in the code: an intermediate quantity or a diagnostic.
for name in $(comm -13 used written); do
  grep -rqw -- "$name" "$project"/{core,theory,sim,studies} || fail "docs/notation.md names '$name', which is nowhere"
done
finish
