#!/usr/bin/env bash
# Sizes that take more memory or time than there is are refused by name before any work.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
run 2 theory joma-overlap --set model.units=999999999
says err "model.units"
says err "1 <= units <= 1000"
run 2 theory bigrams-softmax --set sim.length=1000000000
says err "sim.length"
says err "1 <= length <= 1000000"
# Whole numbers that a double does not hold.
printf 'x = "t"\n[sweep]\nt = [1, 2]\nn = [9007199254740993, 3]\n[theory]\nexpression = "n + t"\n[simulation]\nexpression = "n + t"\n' >whole.toml
run 2 theory whole.toml
says err "at most 2^53 = 9007199254740992, or 9007199254740993.0"
sed 's/9007199254740993/9007199254740992/' whole.toml >exact.toml
run 0 theory exact.toml
says out "9007199254740992"
# A failure names its point and what was set too far.
run 4 run icl-training --set model.lambda=10000.0 --replicates 2 --threads 1 --quiet --out .
says err " at "
says err "model.lambda"
finish
