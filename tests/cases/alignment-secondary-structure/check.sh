#!/usr/bin/env bash
# Records of secondary structure are no sequences: they are left out and counted.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
awk '/^>/ && !n++ { print ">ss_conf PSIPRED"; print "98765432101234" } { print }' structure.a3m >confidence.a3m
for name in plain structure confidence; do
  run 3 run potts-alignment --set "model.file=\"$name.a3m\"" --replicates 1 --name $name --out . --quiet
  cmp $name-*/scores.csv plain-*/scores.csv || fail "$name.a3m does not read as plain.a3m"
done
says structure-*/theory.json '"annotation_records_left_out":1'
says confidence-*/theory.json '"annotation_records_left_out":2'
finish
