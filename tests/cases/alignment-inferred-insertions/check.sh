#!/usr/bin/env bash
# What is left out of an alignment, or read as a gap, because of how it looks is named.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
read_alignment() { # read_alignment FILE
  "$program" run potts-alignment --set "model.file=\"$1\"" --set sim.held_out=0 --replicates 1 --set 'plot.formats=["svg"]' --out runs >out 2>err
}
printf '>a\nACDEfg\n>b\nCCDEf.\n>c\nAC-Eag\n>d\nWWDEgg\n' >masked.fa
read_alignment masked.fa
says err "2 of 6 columns are lower case or '.' in every sequence, and were left out as insertions"
cp masked.fa named.a2m
read_alignment named.a2m
! grep -q "left out as insertions" err || fail "an A2M file is one by its name: $(cat err)"
# '.' for the letter of the first sequence, and no '-' in the file.
printf '>a\nACDEFG\n>b\n..W..K\n>c\n.Y...K\n>d\nW.W...\n' >dots.fa
read_alignment dots.fa
says err "'.' was read as gap, and the first sequence has no '.'"
printf '>a\nACDEFG\n>b\nACW..K\n>c\n.CDEFK\n>d\nWC....\n' >gaps.fa
read_alignment gaps.fa
! grep -q "stands for the letter" err || fail "gaps that are gaps: $(cat err)"
finish
