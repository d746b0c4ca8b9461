#!/usr/bin/env bash
# A3M files of HH-suite's web toolkit and of ColabFold: lines with '#' before the sequences, a zero byte after them.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
for file in toolkit server; do
  grep -av '^#' $file.a3m | tr -d '\000' >plain.a3m
  for name in $file plain; do
    run 3 run potts-alignment --set "model.file=\"$name.a3m\"" --replicates 1 --name $file-$name --out . --quiet
  done
  cmp $file-$file-*/scores.csv $file-plain-*/scores.csv || fail "$file.a3m does not read as its sequences"
done
{ cat server.a3m; cat server.a3m; } >two.a3m
run 2 run potts-alignment --set 'model.file="two.a3m"' --replicates 1 --name two --out . --quiet
says err "a second alignment after a zero byte"
says err "head -n $(wc -l <server.a3m) two.a3m"
finish
