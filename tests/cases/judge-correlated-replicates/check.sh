#!/usr/bin/env bash
# Successive states of a chain are no replicates: the verdict says by how much their error bars are too small, and stays open.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
run 3 judge theory.csv chain.csv --margin 1% --tails normal --out runs --name chain
says out "correlated replicates: autocorrelation 0.9"
says out "too small by a factor of 6"
says "$(echo runs/chain-*/report.html)" "Correlated replicates"
# Means of blocks of 50 are the replicates when the table says so.
awk -F, -v OFS=, 'NR == 1 { print $0, "block"; next } { print $0, int($2 / 50) }' chain.csv >blocks.csv
"$program" judge theory.csv blocks.csv --margin 1% --tails normal --cluster block --out runs --name blocks >out 2>err </dev/null
[ $? -ne 1 ] || fail "a theory that is right is rejected"
grep -q '"n": 8' "$(echo runs/blocks-*/check.json)" || fail "eight blocks are not eight replicates"
run 2 judge theory.csv chain.csv --margin 1% --cluster block --out runs
says err "no column 'block'"
finish
