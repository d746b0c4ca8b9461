#!/usr/bin/env bash
# Figures without gnuplot, and with a date of their own.   drawing.sh PROGRAM PROJECT_FOLDER
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source "$(dirname "${BASH_SOURCE[0]}")/small_run.sh"

# Without gnuplot the data and the script of the figure are there; with SOURCE_DATE_EPOCH a PDF has the same bytes twice.
mkdir bin
for tool in sh bash cat; do ln -s "$(command -v $tool)" bin/; done
PATH=$PWD/bin "$program" run small.toml --name bare --margin 0.3 --seed 5 >out 2>err </dev/null || fail "no gnuplot: $(cat err)"
says err "gnuplot was not found"
present runs/bare-*/plots/gauss-lambda.gp
present runs/bare-*/plots/gauss-lambda.csv
for k in 1 2; do
  SOURCE_DATE_EPOCH=86400 "$program" plot "$whole" --format pdf --out epoch$k >/dev/null 2>err || fail "$(cat err)"
  sleep 1
done
same epoch1/gauss-lambda.pdf epoch2/gauss-lambda.pdf
grep -aq '(D:19700102000000Z' epoch1/gauss-lambda.pdf || fail "the PDF's date is not SOURCE_DATE_EPOCH"
finish
