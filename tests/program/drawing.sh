#!/usr/bin/env bash
# Figures without gnuplot, and with a date of their own.   drawing.sh PROGRAM PROJECT_FOLDER
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source "$(dirname "${BASH_SOURCE[0]}")/small_run.sh"

# Without gnuplot the data and the script of the figure are there; with SOURCE_DATE_EPOCH a PDF has the same bytes twice.
mkdir bin
for tool in sh bash cat; do ln -s "$(command -v $tool)" bin/; done
PATH=$PWD/bin "$program" run small.toml --name bare --margin 0.3 --seed 5 >out 2>err </dev/null || fail "no gnuplot: $(cat err)"
says err "gnuplot was not found"
grep -q "/plots/gauss-lambda.svg' is not drawn" err || fail "which files are missing is not said: $(cat err)"
PATH=$PWD/bin "$program" demo --quiet >out 2>err </dev/null
[ $? -eq 2 ] || fail "a demo without a figure ends as if it had one: $(cat err)"
says err "plots/gauss-double-descent.svg"
PATH=$PWD/bin "$program" plot "$whole" --format svg --out none >out 2>err </dev/null
[ $? -eq 2 ] || fail "plot without gnuplot: $(cat err)"
# One that a package brings along draws SVG; what it does not draw is named.
mkdir -p package/bin
cp "$program" package/attica
printf '#!/bin/sh\nexec %s "$@"\n' "$(command -v gnuplot)" >package/bin/gnuplot
chmod +x package/bin/gnuplot
PATH=$PWD/bin package/attica plot "$whole" --format svg --format pdf --out packed >out 2>err </dev/null || fail "bundled gnuplot: $(cat err)"
present packed/gauss-lambda.svg
absent packed/gauss-lambda.pdf
says err "packed/gauss-lambda.pdf' is not drawn; the one in this package draws SVG"
says err "gnuplot-nox"
present runs/bare-*/plots/gauss-lambda.gp
present runs/bare-*/plots/gauss-lambda.csv
for k in 1 2; do
  SOURCE_DATE_EPOCH=86400 "$program" plot "$whole" --format pdf --out epoch$k >/dev/null 2>err || fail "$(cat err)"
  sleep 1
done
same epoch1/gauss-lambda.pdf epoch2/gauss-lambda.pdf
grep -aq '(D:19700102000000Z' epoch1/gauss-lambda.pdf || fail "the PDF's date is not SOURCE_DATE_EPOCH"
finish
