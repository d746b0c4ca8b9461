#!/usr/bin/env bash
# Of a curve with very many points a figure draws those that show, and says so; the verdict is that of all of them.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
awk 'BEGIN { print "x,value"; for (x = 1; x <= 30000; ++x) printf "%d,%.6f\n", x, 2 + sin(x / 5000) }' >theory.csv
awk 'BEGIN { print "x,mean,sem,n"; for (x = 1; x <= 30000; ++x)
  printf "%d,%.6f,0.001,20\n", x, 2 + sin(x / 5000) + (x == 12345 ? 1 : 0) }' >means.csv
run 1 judge theory.csv means.csv --margin 5% --folder run
says out "29999 of 30000 points agree, 1 disagree"
rows=$(wc -l <run/plots/own.csv)
[ "$rows" -lt 30000 ] || fail "$rows rows of the figure"
grep -q ',sim,y,x,12345,' run/plots/own.csv || fail "the point that disagrees is not drawn"
[ "$(wc -l <run/results.csv)" -gt 60000 ] || fail "results.csv lacks points"
says run/report.html "of 30000 points of a curve"
finish
