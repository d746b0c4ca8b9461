#!/usr/bin/env bash
# A file with a theory and a simulation is a card of its own; no key `study` is needed.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
run 0 run mine.toml --out runs --seed 5 --json
says out '"verdict": "AGREE"'
run 0 theory mine.toml --json
says out '0.5'
printf 'experiment = "gauss-lambda"\n[sim]\nreplicates = 3\n' >built-in.toml
run 0 theory built-in.toml --json
says out "optimal_test_error"
printf '[sim]\nreplicates = 3\n' >neither.toml
run 2 run neither.toml
says err "missing key 'study'; expected the name of a study, or [theory] and [simulation]"
finish
