#!/usr/bin/env bash
# UTF-16 is refused by name, for characters and for words.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
for unit in character word; do
  run 2 theory bigrams-boosting --set 'model.instance="text"' --set "model.unit=\"$unit\"" --set 'model.file="utf16.txt"' --set model.tokens=8 --json
  says err "UTF-16"
  says err "iconv -f UTF-16"
done
iconv -f UTF-16LE -t UTF-8 utf16.txt >utf8.txt
run 0 theory bigrams-boosting --set 'model.instance="text"' --set 'model.file="utf8.txt"' --set model.tokens=8 --json
finish
