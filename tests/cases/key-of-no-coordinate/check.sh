#!/usr/bin/env bash
# A key of [model] selects rows by a coordinate. Of the columns that are none, series and the replicates are refused;
# others, whose name a formula may have by chance, are remarked upon.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
printf 'x,series,value\n1,y,1\n2,y,2\n' >theory.csv
{ echo 'x,series,replicate,value'; for x in 1 2; do for r in 0 1 2 3 4 5 6 7 8 9; do echo "$x,y,$r,$x.0$r"; done; done; } >simulation.csv
sed 's/replicate/seed/' simulation.csv >seeds.csv
printf 'x,mean,sem,n\n1,1.04,0.01,100\n2,2.04,0.01,100\n' >means.csv
card() { printf '[model]\n%s\n[theory]\n%s\n[simulation]\nfile = "%s"\n[agreement.y]\nrelative = 0.5\n' "$@" >card.toml; }
for key in 'replicate = 2' 'series = "z"'; do
  card "$key" 'file = "theory.csv"' simulation.csv
  run 2 run card.toml
  says err "model.$(tr -d '"' <<<"$key"): it selects no rows of '"
done
card 'seed = 2' 'file = "theory.csv"' 'seeds.csv"
replicate = "seed'
run 2 run card.toml
says err "model.seed = 2: it selects no rows of 'seeds.csv', whose column 'seed' is no coordinate"
card 'n = 100' 'expression = {y = "x + 1/n"}' means.csv
run 0 run card.toml
says err "model.n selects no rows of 'means.csv', whose column 'n' is no coordinate"
awk -F, -v OFS=, 'NR == 1 { print $0, "batch"; next } { print $0, $3 % 10 }' simulation.csv >batches.csv
card 'batch = 2' 'file = "theory.csv"' 'batches.csv"
independent = true
cluster = "batch'
run 0 run card.toml
says err "model.batch selects no rows of 'batches.csv', whose column 'batch' is no coordinate"
finish
