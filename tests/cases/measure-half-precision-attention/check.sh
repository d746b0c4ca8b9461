#!/usr/bin/env bash
# The tolerance of rows that sum to 1 is that of the file's numbers: attention in half precision has its entropy.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
run 0 measure attention.npy
says out "attention_entropy  3.66"
# As text their precision is not known: why there is no entropy is said.
/usr/bin/python3 -c 'import numpy; numpy.savetxt("attention.csv", numpy.load("attention.npy").astype(float))'
run 0 measure attention.csv
grep -q attention_entropy out && fail "an entropy: $(cat out)"
says err "rows sum to 1 within 0.00011 only"
finish
