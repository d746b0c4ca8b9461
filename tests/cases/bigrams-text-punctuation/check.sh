#!/usr/bin/env bash
# Words of bigrams are those of the other studies: no punctuation of any kind, lower case, 18 of them.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
run 0 theory bigrams-boosting --set 'model.instance="text"' --set 'model.unit="word"' --set 'model.file="words.txt"' --set model.tokens=60 --json
/usr/bin/python3 - out <<'END' || fail "the values are others"
import json, sys
symbols = json.load(open(sys.argv[1]))["diagnostics"]["symbols"]
assert len(symbols) == len(set(symbols)) == 18, symbols
for word in ("music", "école", "мир", "bank", "money"):
    assert word in symbols, symbols
END
finish
