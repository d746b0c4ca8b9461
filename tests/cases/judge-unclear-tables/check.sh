#!/usr/bin/env bash
# Tables as other programs write them are read, or refused with the cause and the remedy.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
run 2 judge theory.csv index.csv --margin 5%
says err "a column without a name"
says err "index=False"
run 3 judge theory.csv mac.csv --margin 5% --name mac
run 3 judge theory.csv spaces.csv --margin 5% --name spaces
same runs/mac-*/replicates.csv runs/spaces-*/replicates.csv
run 2 judge theory.csv tensorboard.csv --x Step --margin 5%
says err "missing column 'value'"
says err "did you mean 'Value'? --value 'Value'"
run 2 judge theory.csv twice.json --margin 5%
says err "key 'value' twice in an object"
finish
