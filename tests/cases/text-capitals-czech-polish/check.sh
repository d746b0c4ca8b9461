#!/usr/bin/env bash
# Capitals of Czech, Polish and Hungarian become small letters: 17 words and <unk>.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
run 0 theory language-clones --set 'model.symbols="words"' --set model.vocabulary=60 --set model.sites=4 --set 'model.chain_orders=[1]' --json --set 'model.file="capitals.txt"'
says out '"symbols": 18'
finish
