#!/usr/bin/env bash
# The danda ends a word: 15 words and <unk>.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
run 0 theory language-clones --set 'model.symbols="words"' --set model.vocabulary=60 --set model.sites=4 --set 'model.chain_orders=[1]' --json --set 'model.file="hindi.txt"'
says out '"symbols": 16'
finish
