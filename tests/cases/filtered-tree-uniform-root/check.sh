#!/usr/bin/env bash
# [] is the uniform root of a filtered tree, and no value of other lists.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
run 0 theory tree-filtered-floors --set 'model.root=[]' --set model.alphabet=2 --set 'model.rule="broadcast"' --set model.rho=0.6
says out "own_loss,theory,,level,1,0.62484101700769"
says out "full_loss,theory,,level,0,0.6723480335721"
says out "window_loss,theory,,level,2,0.62088792499250"
run 2 theory tree-filtered-floors --set 'sweep.level=[]'
says err "at least one value"
finish
