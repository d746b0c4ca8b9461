#!/usr/bin/env bash
# `expected` of a preset of one's own card: a theory that leaves out points of them is INCONCLUSIVE at best.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
sed -i '/^model.rate = 5.0/c\model.rate = 0.4\nexpected = {decay = 3}' decay.toml
run 0 run decay.toml --preset fast --name all --quiet
says out "AGREE: 3 of 3 points agree"
grep -q '"expected"' runs/all-*/check.json || fail "check.json has no expected points"
# A flow has no value at negative times: two of the four points that are expected remain.
sed 's/^t = .*/t = [-1.0, 1.0, 2.0]/; s/^expression = .*//; s/^\[theory\]/[theory.flow]\nstart = {v = "1"}\nrate = {v = "-rate*v"}\n[theory.series]\ndecay = "v"\n[check]\npartial = true/' \
  decay.toml >flow.toml
run 3 run flow.toml --preset fast --name fewer --quiet
says out "fewer points than expected: 2 of 3 points of decay are compared"
run 3 check runs/fewer-*
says out "fewer points than expected: 2 of 3 points of decay are compared"
# Shards that are joined expect what the run does.
for i in 1 2; do run 0 run flow.toml --preset fast --name parts --shard $i/2 --quiet; done
run 3 merge runs/parts-*-shard* --quiet
says out "fewer points than expected: 2 of 3 points of decay are compared"
# At other settings nothing is expected; seed and number of replicates are no settings.
run 0 run flow.toml --name other --quiet
run 0 run flow.toml --preset fast --set model.rate=0.45 --name another --quiet
run 3 run flow.toml --preset fast --seed 7 --replicates 50 --name seed --quiet
sed 's/expected = {decay = 3}/expected = {decya = 3}/' decay.toml >mistyped.toml
run 3 run mistyped.toml --preset fast --name mistyped --quiet
says out "0 of 3 points of decya"
finish
