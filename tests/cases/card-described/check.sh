#!/usr/bin/env bash
# A file of one's own describes its study as attica's cards do: parameters, series, presets, reference runs, perturbed theories.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
run 0 show decay.toml
says out "rate of decay, per unit of time"
says out "share that is left at time t"
says out "ten times the rate"
run 0 theory decay.toml --preset fast --json
says out '"model.rate": 5.0'
run 2 theory decay.toml --set model.rate=-1
says err "rate > 0"
run 0 gallery decay.toml --out shown
grep -qE "^AGREE +decay" out || fail "the gallery: $(cat out)"
grep -qE "^INCONCLUSIVE +decay-few" out || fail "the gallery: $(cat out)"
run 0 gallery decay.toml --perturbed --out shown
says out "1 of 1 wrong theories rejected"
sed 's/^model.rate = 5.0/model.rat = 5.0/' decay.toml >mistyped.toml
run 2 theory mistyped.toml
says err "mistyped.toml:33:1: error: [[preset]] fast: there is no parameter 'model.rat'"
# Values of presets are checked as the user's own are: numbers may be written without a point.
sed 's/^model.rate = 5.0/model.rate = 5/' decay.toml >whole.toml
run 0 theory whole.toml --preset fast --json
says out '"model.rate": 5.0'
sed 's/^model.rate = 5.0/model.rate = -5.0/' decay.toml >negative.toml
run 2 theory negative.toml --preset fast
says err "rate > 0"
finish
