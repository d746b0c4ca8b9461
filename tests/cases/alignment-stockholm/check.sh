#!/usr/bin/env bash
# Stockholm and Clustal files read as the A3M of the same sequences, whose ending may be written in capitals.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
for file in FAMILY.A3M family.sto family.aln; do
  run 3 run potts-alignment --set "model.file=\"$file\"" --replicates 1 --name $file-run --out . --quiet
  cmp $file-run-*/scores.csv FAMILY.A3M-run-*/scores.csv || fail "$file does not read as FAMILY.A3M"
done
printf ' 2 5\none ACDEF\ntwo ACDEF\n' >family.phy
run 2 run potts-alignment --set 'model.file="family.phy"' --out . --quiet
says err "a PHYLIP file, expected FASTA, A2M, A3M, Stockholm, Clustal"
finish
