#!/usr/bin/env bash
# A soft hyphen inside a word is dropped: 15 words and <unk>, 1800 tokens.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
run 0 theory language-clones --set 'model.symbols="words"' --set model.vocabulary=60 --set model.sites=4 --set 'model.chain_orders=[1]' --json --set 'model.file="soft.txt"'
says out '"symbols": 16'
/usr/bin/python3 - out <<'END' || fail "the values are others"
import json, sys
d = json.load(open(sys.argv[1]))["diagnostics"]
assert d["training_symbols"] + d["held_out_symbols"] == 1800, d
END
finish
