#!/usr/bin/env bash
# A file that was cut off ends within a number, which is another one: each reader of tables says so, and so does whoever
# passes its words on.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
printf 'x,value\n1,1\n2,2\n' >theory.csv
{ echo 'x,replicate,value'; for x in 1 2; do for r in 0 1 2 3 4 5 6 7 8 9; do echo "$x,$r,$x.0${r}25"; done; done; } >whole.csv
head -c -4 whole.csv >cut.csv
what="cut.csv:21: the last line has no end, and its last number, 2.0, fewer characters than all above it"
run 0 judge theory.csv whole.csv --margin 50% --independent --name whole
silent err
run 0 judge theory.csv cut.csv --margin 50% --independent --name cut
says err "warning: $what"
run 0 fit cut.csv
says err "warning: $what"
run 1 bound cut.csv --expression '0.1*x'
says err "warning: $what"
tail -n +2 cut.csv >matrix.csv
run 0 measure matrix.csv
says err "warning: matrix.csv:20: the last line has no end"
finish
