#!/usr/bin/env bash
# The layers of the code: who may include whom, no cycle, no header that nobody uses.   structure.sh PROGRAM PROJECT_FOLDER
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$project" || exit 1

# What a folder may include, besides itself. The build enforces it too; here it is to be read.
declare -A below=(
  [core]=""
  [solvers]="core"
  [theory]="core solvers"
  [sim]="core solvers"
  [plots]="core"
  [studies]="core solvers theory sim"
  [app]="core solvers sim plots studies"
)
for folder in "${!below[@]}"; do
  while IFS=: read -r file include; do
    other=${include#*attica/}
    other=${other%%/*}
    [[ " $folder ${below[$folder]} " == *" $other "* ]] || fail "$file includes attica/$other"
  done < <(grep -roE --include='*.[ch]pp' '#include "attica/[^"]*' "$folder")
done

# Headers, each before those it includes: tsort names the members of a cycle.
folders=(core solvers theory sim plots studies app)
grep -roE --include='*.hpp' '#include "attica/[^"]*' "${folders[@]}" |
  sed -E 's/^([^:]*):#include "attica\/(.*)/\1 \2/' >"$work/pairs"
tsort "$work/pairs" >"$work/order" 2>"$work/cycles" || fail "cycle: $(cat "$work/cycles")"

# Headers that nothing but their own source file and the tests include are either dead or belong into it.
while IFS= read -r header; do
  own=${header%.hpp}.cpp
  users=$(grep -rlF --include='*.[ch]pp' "\"attica/$header\"" "${folders[@]}" bench examples | grep -vcx "$own")
  [ "$users" -gt 0 ] || fail "nobody uses $header"
done < <(git ls-files '*.hpp' | grep -E "^($(IFS='|'; echo "${folders[*]}"))/")
finish
