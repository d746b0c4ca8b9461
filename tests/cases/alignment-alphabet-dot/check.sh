#!/usr/bin/env bash
# Lower case is an insertion in A2M and A3M whatever stands for gaps: 12 sites, 66 pairs.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
grep -v '^>' rna.a2m | tr -d '.' | sed 's/^/>x\n/' >rna.a3m
run 3 run potts-alignment --set 'model.file="rna.a2m"' --set 'model.alphabet="-ACGU"' --replicates 1 --name dash --out . --quiet
for ending in a2m a3m; do
  run 3 run potts-alignment --set "model.file=\"rna.$ending\"" --set 'model.alphabet=".ACGU"' --replicates 1 --name $ending --out . --quiet
  [ "$(cat $ending-*/scores.csv | wc -l)" -eq 67 ] || fail "$ending: $(cat $ending-*/scores.csv | wc -l) lines of scores, expected 67"
  cmp $ending-*/scores.csv dash-*/scores.csv || fail "the letter for gaps changes the scores"
done
finish
