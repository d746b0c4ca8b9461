#!/usr/bin/env bash
# 1.000 may be a thousand, between semicolons or next to numbers without a point: it is read as 1, and said so; rows of a figure without a value are counted.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
printf 'x;value\n500;2\n1.000;1\n2.000;0.5\n' >theory.csv
{
  printf 'x;replicate;value\n'
  for r in 0 1 2 3 4 5 6 7 8 9; do printf '500;%d;2.00%d\n1.000;%d;1.00%d\n2.000;%d;0.50%d\n' "$r" "$r" "$r" "$r" "$r" "$r"; done
} >simulation.csv
run 0 judge theory.csv simulation.csv --margin 5% --tails normal --independent
says err "theory.csv:3: 1.000 in column 'x' was read as 1, a number with decimals; if the points separate thousands, take them out"
says err "simulation.csv:3: 1.000 in column 'x' was read as 1"
run 0 fit simulation.csv --x x
says err "simulation.csv:3: 1.000 in column 'x' was read as 1"
printf 'x\treplicate\tvalue\n500\t0\t2\n1.000\t0\t1\n2.000\t0\t0.5\n' >tabs.tsv
run 0 fit tabs.tsv --x x
says err "tabs.tsv:3: 1.000 in column 'x' was read as 1"
printf 'x\treplicate\tvalue\n500\t0\t2\n1,000\t0\t1\n' >commas.tsv
run 2 fit commas.tsv --x x
says err "commas.tsv:3:1"
says err "thousands without a separator"
printf '1,05\n2,50\n' >decimals.csv
run 2 measure decimals.csv
says err "'05' behind a comma: decimals are written with a point"
printf 'x,value\n1,2\n2,\n3,nan\n4,1\n' >line.csv
printf 'formats = ["svg"]\n[[panels]]\nlayers = [{csv = "line.csv"}]\n' >figure.toml
run 0 figure figure.toml
says err "line.csv:3: 2 rows without a value, this is the first, are left out"
[ "$(grep -c '^a,' figures/figure.csv)" -eq 2 ] || fail "not two points: $(cat figures/figure.csv)"
# So it is over a page of theory.
printf 'x = "x"\n[sweep]\nx = [1.0, 500.0]\n[theory.expression]\ny = "2 - x/1000"\n' >card.toml
run 0 explore card.toml --overlay theory.csv --export page.html
says err "theory.csv:3: 1.000 in column 'x' was read as 1"
finish
