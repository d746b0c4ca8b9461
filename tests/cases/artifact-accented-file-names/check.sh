#!/usr/bin/env bash
# An artifact with accented names is unpacked and reproduced by Python; two inputs of one name keep apart.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
mkdir a b
printf 'x,value\n1,2\n2,4\n' >a/théorie.csv
awk 'BEGIN { srand(3); print "x,replicate,value"; for (x = 1; x < 3; ++x) for (r = 0; r < 40; ++r) print x "," r "," 2 * x * (0.98 + 0.04 * rand()) }' >mesure-α.csv
cp mesure-α.csv b/théorie.csv
unpacked() {
  rm -rf "$2"
  /usr/bin/python3 -m zipfile -e "$1" "$2"
  (cd "$2" && PATH="$(dirname "$program"):$PATH" sh ./reproduce >../out 2>../err) || fail "$2: reproduce: $(cat out err)"
}
run 0 judge a/théorie.csv mesure-α.csv --margin 5% --out runs --name accents
run 0 artifact runs/accents-* -o paper.zip
unpacked paper.zip paper
present paper/runs/accents-*/inputs/théorie.csv
run 0 judge a/théorie.csv b/théorie.csv --margin 5% --out runs --name twice
run 0 artifact runs/twice-* -o twice.zip
unpacked twice.zip twice
[ "$(find twice/runs -path '*inputs/*' -type f | wc -l)" -eq 2 ] || fail "inputs of one name: $(find twice -path '*inputs*')"
# A line break in a name, which sha256sum could not read.
cp a/théorie.csv $'a/line\nbreak.csv'
run 0 judge $'a/line\nbreak.csv' mesure-α.csv --margin 5% --out runs --name breaks
run 0 artifact runs/breaks-* -o breaks.zip
unpacked breaks.zip breaks
present 'breaks/runs/'*/inputs/line%0Abreak.csv
finish
