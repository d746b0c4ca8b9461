#!/usr/bin/env bash
# A column of numbers that differs in every row is a second measurement, and no name of curves: a fit of one size each
# would be undecided twenty-five times.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
awk 'BEGIN { srand(1); print "x,accuracy,replicate,value"
  for (x = 10; x <= 160; x *= 2) for (r = 0; r < 8; ++r) printf "%d,%.6f,%d,%.6f\n", x, rand(), r, x^-0.5*(1 + 0.02*(rand() - 0.5)) }' >two.csv
run 2 fit two.csv --exponent -0.5
says err "column 'accuracy' has 40 different numbers"
run 2 fit two.csv --x x
says err "column 'accuracy'"
cut -d, -f1,3,4 two.csv >one.csv
run 0 fit one.csv --exponent -0.5
# Curves by a word, or by a number that several sizes share, stay curves.
awk -F, 'NR == 1 { print "width," $0; next } { print "2," $0; print "4," $0 }' one.csv >widths.csv
run 0 fit widths.csv --exponent -0.5
says out "width=2"
finish
