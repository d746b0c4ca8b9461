#!/usr/bin/env bash
# -0.0 and 0.0 are one value: a list with both has it twice, and replicates of it are not counted double.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
run 2 theory zeros.toml
says err "zeros.toml:4:1: error: parameter 'sweep.t[1]' = 0.0: expected distinct values"
run 2 theory zeros.toml --set 'sweep.t=[0.0,1.0]' --set 'sweep.rate=[0.0,-0.0]'
says err "expected distinct values"
sed 's/0.0, 0.0, 1.0/0.0, 1.0/' zeros.toml >one.toml
run 0 theory one.toml
says out "own,y,theory,1,t,0,1,"
finish
