#!/usr/bin/env bash
# A run is repeated byte for byte, a changed one is noticed, and an artifact brings all that others need.
#   rerun.sh PROGRAM PROJECT_FOLDER
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
small="--set model.sites=11 --set sweep.alpha=[2.0] --set sweep.lambda=[1.0] --margin 0.3"
run 0 run gauss-lambda $small --replicates 60 --name first --quiet --threads 2
first=$(echo runs/first-*)
run 0 rerun "$first" --threads 1 --quiet
says out "equal      results.csv"
says out "equal      replicates.csv"
run 0 rerun "$first" --json --quiet
one_json out
says out '"equal": true'
run 0 run gauss-lambda $small --replicates 200 --until-decided --name early --quiet
run 0 rerun runs/early-* --quiet
run 2 rerun "$first" --out runs
says err "another folder than that of the run"
# One digit of one number.
cp -r "$first" forged
sed -i '5s/,\([0-9.]*\)\([0-8]\)$/,\19/' forged/replicates.csv
cmp -s forged/replicates.csv "$first/replicates.csv" && fail "the test has changed nothing"
rm -f forged/manifest.json
run 1 rerun forged --quiet
says out "DIFFERENT  replicates.csv: line 5:"
"$program" run gauss-lambda $small --replicates 100000 --max-time 0.05 --name part --quiet >/dev/null 2>&1
run 5 rerun runs/part-*

# An artifact of two runs, one on own data, unpacked where neither is known.
mkdir csv
head -60 "$project/data/digits.csv" | cut -d, -f20-27 >csv/own.csv
"$program" run gauss-lambda --set 'model.covariance="data"' --set 'model.file="csv/own.csv"' --set 'sweep.alpha=[2.0]' \
  --set 'sweep.lambda=[1.0]' --replicates 40 --name own --quiet >/dev/null 2>&1
run 0 artifact "$first" runs/own-* -o paper.zip
cp paper.zip again.zip
run 0 artifact "$first" runs/own-* -o paper.zip
same paper.zip again.zip
run 2 artifact "$first" -o paper.tar
run 2 artifact "$first" "$first" -o twice.zip
absent twice.zip
command -v python3 >/dev/null || { finish; exit; }
mkdir unpacked
python3 -m zipfile -e paper.zip unpacked || fail "the archive cannot be read"
mv csv moved
for file in README.md Dockerfile VERSIONS.json SHA256SUMS reproduce; do present unpacked/$file; done
present unpacked/runs/own-*/inputs/own.csv
(cd unpacked && sha256sum --check --quiet SHA256SUMS) || fail "checksums"
mkdir path && ln -s "$program" path/attica
PATH=$PWD/path:$PATH sh unpacked/reproduce --quiet >out 2>err || fail "reproduce: $(cat err out)"
says out "all tables are reproduced byte for byte"
echo >>"$(echo unpacked/runs/first-*/results.csv)"
PATH=$PWD/path:$PATH sh unpacked/reproduce >out 2>err
[ $? -eq 5 ] || fail "a changed artifact goes unnoticed"
finish
