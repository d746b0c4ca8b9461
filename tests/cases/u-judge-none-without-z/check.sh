#!/usr/bin/env bash
# Without a margin every point has its z, and the report no empty parts.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
printf 'alpha,value\n1,2\n2,4\n' >t.csv
printf 'alpha,mean,sem,n\n1,2.01,0.02,25\n2,4.05,0.03,25\n' >m.csv
run 0 judge t.csv m.csv --x alpha --out runs --name none
says out "NONE: 0 of 2 points have a margin"
says out "y at alpha=1: simulation 2.01 +- 0.02, theory 2, z +0.50"
says out "y at alpha=2: simulation 4.05 +- 0.03, theory 4, z +1.67"
says out "no margin was declared: --margin or --absolute gives a verdict"
report=$(echo runs/none-*/report.html)
says "$report" "+1.67"
for text in "INCONCLUSIVE" "Band: declared margin" "its author says" "<h2>Sources</h2>"; do
  if grep -qF "$text" "$report"; then fail "the report has '$text'"; fi
done
run 0 check runs/none-*
says out "no margin was declared"
grep -q 'NONE' "$project/README.md" || fail "README's exit codes do not have NONE"
finish
