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
  [sources]="core solvers theory studies"
  [app]="core solvers sim plots studies sources"
)
for folder in "${!below[@]}"; do
  while IFS=: read -r file include; do
    other=${include#*attica/}
    other=${other%%/*}
    [[ " $folder ${below[$folder]} " == *" $other "* ]] || fail "$file includes attica/$other"
  done < <(grep -roE --include='*.[ch]pp' '#include "attica/[^"]*' "$folder")
done

# Families keep to themselves: what two of them need is a kit's, a solver's, or shared vocabulary. Exceptions, with reasons:
declare -A family_uses=(
  [potts]="gauss"  # the control of potts-square: Gaussian data of equal covariance, fitted and predicted as such
  [trees]="language potts"  # networks that language-orders trains on windows; a population of masked sites, as of potts-softmax-flow
  [masked]="gauss"  # masked-transfer: what follows masked regression, and its rival, is ridge regression of labels
)
shared="text networks training"  # folders within the layers that are no families
for file in $(git ls-files {core,theory,sim,studies}/'*/*.[ch]pp'); do
  IFS=/ read -r _ family _ <<<"$file"
  [[ " $shared " == *" $family "* ]] && continue
  while IFS=/ read -r _ folder other _; do
    [[ " $family $shared ${family_uses[$family]:-} " == *" $other "* ]] || fail "$file includes $folder/$other of another family"
  done < <(grep -oE '#include "attica/(core|theory|sim|studies)/[a-z0-9]+/' "$file")
done

# Headers, each before those it includes: tsort names the members of a cycle.
folders=(core solvers theory sim plots studies sources app)
grep -roE --include='*.hpp' '#include "attica/[^"]*' "${folders[@]}" |
  sed -E 's/^([^:]*):#include "attica\/(.*)/\1 \2/' >"$work/pairs"
tsort "$work/pairs" >"$work/order" 2>"$work/cycles" || fail "cycle: $(cat "$work/cycles")"

# Headers that nothing but their own source file and the tests include are either dead or belong into it.
while IFS= read -r header; do
  own=${header%.hpp}.cpp
  users=$(grep -rlF --include='*.[ch]pp' "\"attica/$header\"" "${folders[@]}" bench examples python | grep -vcx "$own")
  [ "$users" -gt 0 ] || fail "nobody uses $header"
done < <(git ls-files '*.hpp' | grep -E "^($(IFS='|'; echo "${folders[*]}"))/")

# Labels are TeX or have gnuplot's marks: of both, the dollars are drawn.
! git grep -nE '"[^"]*(\$[^"]*\{/:|\{/:[^"]*\$)[^"]*"' -- 'studies/*.toml' || fail "a label mixes TeX and gnuplot's marks"

# What a touched header costs: the sources that read it, directly or through another header. The kit does not know how
# curves are judged. A header of theory/ is read by sixteen sources at most, those of the training theory by twenty (their own,
# those of flows, and a study each).
grep -roE --include='*.[ch]pp' '#include "attica/[^"]*' "${folders[@]}" | sed -E 's/^([^:]*):#include "attica\/(.*)/\1 \2/' >"$work/includes"
awk '{ reads[$1] = reads[$1] " " $2; if ($1 ~ /cpp$/) sources[$1] }
    function visit(file, source,   list, k, n) {
      if ((file, source) in seen) return
      seen[file, source]
      if (file ~ /\.hpp$/) ++readers[file]
      n = split(reads[file], list, " ")
      for (k = 1; k <= n; ++k) visit(list[k], source)
    }
    END {
      for (source in sources) visit(source, source)
      for (header in readers) print header, readers[header]
      visit("studies/kit.hpp", "the kit")
      if (("solvers/statistics/agreement.hpp", "the kit") in seen) print "the kit includes agreement.hpp", 1000
    }' "$work/includes" >"$work/readers"
while read -r header count; do
  most=16
  [[ $header != theory/training/* ]] || most=24  # every study of a training reads it
  [[ $header != theory/* ]] || [ "$count" -le $most ] || fail "$count sources read $header"
done <"$work/readers"
! grep 'the kit includes' "$work/readers" || fail "the kit includes how curves are judged"

# A build of some families alone compiles every source whose header it reads.
for family in gauss joma; do
  cmake -S . -B "$work/some" -G Ninja -DATTICA_FAMILIES=$family -DATTICA_TOGETHER=OFF -DATTICA_PRECOMPILE=OFF >"$work/cmake" 2>&1 ||
    fail "ATTICA_FAMILIES=$family: $(tail -3 "$work/cmake")"
  sed -nE "s|^ *\"file\": \"$PWD/(.*\.cpp)\".*|\1|p" "$work/some/compile_commands.json" | sort >"$work/compiled"
  grep -qx "studies/$family/studies.cpp" "$work/compiled" || fail "ATTICA_FAMILIES=$family leaves that family out"
  awk -v compiled="$work/compiled" '
    { reads[$1] = reads[$1] " " $2 }
    function visit(file,   list, k, n) {
      if (file in seen) return
      seen[file]
      n = split(reads[file], list, " ")
      for (k = 1; k <= n; ++k) visit(list[k])
    }
    END {
      while ((getline file < compiled) > 0) { built[file]; visit(file) }
      for (file in seen) if (sub(/hpp$/, "cpp", file) && (file in reads) && !(file in built)) print file
    }' "$work/includes" >"$work/lacking"
  [ ! -s "$work/lacking" ] || fail "ATTICA_FAMILIES=$family does not compile $(tr '\n' ' ' <"$work/lacking")"
done

# A type has one definition: two of a name in a namespace link without a word, and one of them is used for both.
git ls-files {core,solvers,theory,sim,plots,studies,app}'/*.hpp' | xargs awk '
  /^namespace [a-z:]+ \{/ { namespace = $2 }
  /^(class|struct|enum class) [A-Z][A-Za-z0-9]*( final)?( :.*)? ?\{/ { print namespace "::" ($1 == "enum" ? $3 : $2) }' |
  sed 's/:$//' | sort | uniq -d >"$work/twice"
[ ! -s "$work/twice" ] || fail "types that are defined twice: $(tr '\n' ' ' <"$work/twice")"

# No merge was left half done.
git grep -nE '^(<<<<<<<|>>>>>>>) ' >"$work/unmerged" && fail "marks of a merge: $(cat "$work/unmerged")"

# What theory and simulation share stands in docs/notes/shared-code.md, with tests that are there. Code that moves both sides is not seen by any verdict.
shared() { git ls-files "$1/*.[ch]pp" | xargs grep -hoE '#include "attica/(core|solvers)/[^"]+' | sed 's|.*attica/||' | sort -u; }
listed() { sed -n '/^## Code on both sides/,/^## /p' docs/notes/shared-code.md; }
comm -12 <(shared theory) <(shared sim) | grep -v '^core/error.hpp$' >"$work/shared"
listed | sed -nE 's/^\| `([a-z_/]+\.hpp)` \|.*/\1/p' | sort >"$work/listed"
same "$work/shared" "$work/listed"
git ls-files 'tests/*_test.cpp' | xargs sed -nE 's/.*TEST_CASE\("([^"]+)".*/\1/p' >"$work/tests"
listed | grep '^| `' | grep -oE '"[^"]+"' | tr -d '"' >"$work/named"
while read -r name; do
  grep -qxF "$name" "$work/tests" || fail "docs/notes/shared-code.md names a test that is not there: $name"
done <"$work/named"
[ "$(grep -c . "$work/named")" -ge "$(grep -c . "$work/shared")" ] || fail "docs/notes/shared-code.md: fewer tests than shared headers"

# The slips that `./dev mutants` plants still fit the code.
if python3 -c 'import tomllib' 2>/dev/null; then
  tests/mutants/run --list >/dev/null 2>"$work/mutants" || fail "$(cat "$work/mutants")"
fi
finish
