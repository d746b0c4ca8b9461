#!/usr/bin/env bash
# The notation table names every series and parameter of every study, and nothing else; the table of the papers' statements
# every study, and no study or recipe that is not there.   notation.sh PROGRAM PROJECT_FOLDER
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

"$program" list | awk '{ print $1 }' | sort >studies
{
  cat studies
  "$program" gallery --dry-run --out "$work/gallery" | grep -oE '(--name|left out) +[a-z0-9-]+' | awk '{ print $NF }'
} | sort -u >known
grep -oE '`[a-z0-9]+(-[a-z0-9]+)+`' "$project/docs/papers.md" | tr -d '`' | sort -u >written
comm -23 studies written >missing
[ ! -s missing ] || fail "not in docs/papers.md: $(tr '\n' ' ' <missing)"
comm -13 known written >missing
[ ! -s missing ] || fail "docs/papers.md names what no study or recipe is called: $(tr '\n' ' ' <missing)"
finish
