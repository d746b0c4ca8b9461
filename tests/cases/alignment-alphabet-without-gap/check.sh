#!/usr/bin/env bash
# A file with gaps is refused where the alphabet has none.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
run 2 run potts-alignment --set 'model.file="rna.fa"' --set 'model.alphabet="ACGU"' --replicates 1 --name rna --out . --quiet
says err "has no gap: begin it with '-'"
run 3 run potts-alignment --set 'model.file="rna.fa"' --set 'model.alphabet="-ACGU"' --replicates 1 --name gap --out . --quiet
grep -v '^>' rna.fa | tr -- - A | sed 's/^/>x\n/' >full.fa
run 3 run potts-alignment --set 'model.file="full.fa"' --set 'model.alphabet="ACGU"' --replicates 1 --name full --out . --quiet
finish
