#!/usr/bin/env bash
# Values that are 0 and 1 only are rates: 400 of 400 are within 0.05 of 1.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
run 3 judge theory.csv success.csv --absolute 0.05 --out runs --name rate
says out "INCONCLUSIVE: 1 of 2 points agree, 0 disagree, 1 inconclusive"
says out "undecided: y at x=1: rate 0.7375, 90 % interval 0.6988 to 0.7735"
run 0 judge theory.csv success.csv --absolute 0.12 --out runs --name wider
says out "AGREE: 2 of 2 points agree"
says "$(echo runs/rate-*/check.json)" '"tails": "rate"'
run 3 judge theory.csv success.csv --absolute 0.05 --tails rate --out runs --name said
# Exactly: 0.05^(1/400) = 0.99254 is the lower bound of the rate.
run 3 judge theory.csv success.csv --absolute 0.007 --out runs --name narrow
says out "undecided: y at x=2: rate 1, 90 % interval 0.9925 to 1"
printf 'x,value\n1,0.7\n2,0.9\n' >wrong.csv
run 1 judge wrong.csv success.csv --absolute 0.05 --out runs --name wrong
says out "disagrees: y at x=2"
# Identical replicates of something else are not put down to seeds alone.
awk -F, -v OFS=, 'NR > 1 && $1 == 2 { $3 = 1.5 } 1' success.csv >identical.csv
run 3 judge theory.csv identical.csv --absolute 0.5 --out runs --name identical
says out "all 400 replicates are 1.5 to all digits"
run 2 judge theory.csv identical.csv --absolute 0.5 --tails rate --out runs --name no-rate
says err "0 or 1"
finish
