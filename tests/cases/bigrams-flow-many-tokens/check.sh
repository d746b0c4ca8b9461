#!/usr/bin/env bash
# bigrams-flow with 500 tokens of the circulant law has its theory: the other problem, whose random law cannot be drawn, is left out with a
# warning, and refused by model.spread where it is asked for.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
run 0 theory bigrams-flow --set model.tokens=500 --set 'model.instance="circulant"' --set 'sim.steps=[1,10]'
says err 'the problem "general" is left out'
says out "alpha_V,theory,standard,flow"
run 2 theory bigrams-flow --set model.tokens=500 --set 'sweep.problem=["general"]'
says err "parameter 'spread' = 2"
finish
