#!/usr/bin/env bash
# Two sites are refused before the fit, with the bound that holds; three are not.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
run 2 run potts-alignment --set 'model.file="pair.fa"' --replicates 1 --name pair --out . --quiet
says err "(2 columns): expected 3 to 673 columns with 21 colours"
[ -z "$(compgen -G "pair-*")" ] || fail "a run folder is left"
awk '/^>/ { print; next } { print $0 substr("ACDEFGH", (NR * NR) % 7 + 1, 1) }' pair.fa >three.fa
run 0 run potts-alignment --set 'model.file="three.fa"' --set sim.held_out=0 --replicates 1 --name three --out . --quiet
finish
