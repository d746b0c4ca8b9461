#!/usr/bin/env bash
# Replicates come out the same however many of them a process has; what a batch prints is refused with the place.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
cat >draw.py <<'PYTHON'
import random
import sys

print("series,replicate,x,value")
for place, seed in enumerate(sys.argv[1].split(",")):
    for x in (1, 2):
        rng = random.Random(f"{seed} {x}")
        print(f"y,{place},{x},{x + rng.gauss(0, 0.1)!r}")
PYTHON
card() { # card NAME BATCH SCRIPT
  cat >"$1" <<TOML
study = "own"
[sweep]
x = [1.0, 2.0]
[theory]
expression = {y = "x"}
[simulation]
command = ["python3", "$3", "{seeds}"]
batch = $2
[agreement.y]
relative = 0.1
[sim]
replicates = 50
TOML
}
for batch in 1 7 50; do
  card "b$batch.toml" $batch draw.py
  run 0 run "b$batch.toml" --out "runs$batch" --seed 3 --name x
  says out "AGREE: 2 of 2 points agree"
  cp runs$batch/*/replicates.csv "r$batch.csv"
done
cmp r1.csv r7.csv && cmp r1.csv r50.csv || fail "replicates depend on the batch"

# Without the column, with a place that is none, and with a replicate that lacks.
sed 's/"series,replicate,x,value"/"series,x,value"/; s/{place},//' draw.py >plain.py
sed 's/{place}/{place + 1}/' draw.py >beyond.py
sed 's/for place, seed in enumerate(\(.*\)):/for place, seed in list(enumerate(\1))[1:]:/' draw.py >short.py
card plain.toml 5 plain.py
run 2 run plain.toml --out bad --name plain
says err "replicate"
card beyond.toml 5 beyond.py
run 2 run beyond.toml --out bad --name beyond
says err "replicate 5; expected 0 to 4"
card short.toml 5 short.py
run 2 run short.toml --out bad --name short
says err "no rows of replicate 0"

# {seeds} and batch belong together.
sed '/^batch/d' b7.toml >unset.toml
run 2 run unset.toml --dry-run
says err "simulation.batch"
sed 's/{seeds}/{seed}/' b7.toml >single.toml
run 2 run single.toml --dry-run
says err "{seeds}"
sed 's/^batch = 7/batch = 5001/' b7.toml >large.toml
run 2 run large.toml --dry-run
says err "1 <= batch <= 5000"
# As many seeds as that fit an argument: all are there.
cat >count.py <<'PYTHON'
import sys

seeds = sys.argv[1].split(",")
assert len(set(seeds)) == 5000, len(set(seeds))
print("series,replicate,value")
for place in range(len(seeds)):
    print(f"y,{place},{1 + place % 3 - 1}")
PYTHON
cat >many.toml <<'TOML'
[theory]
expression = {y = "1"}
[simulation]
command = ["python3", "count.py", "{seeds}"]
batch = 5000
[agreement.y]
relative = 0.1
[sim]
replicates = 5000
TOML
run 0 run many.toml --out many --name many --quiet
says out "AGREE"

# What belongs to a command is refused beside another simulation.
printf 'series,replicate,value\ny,0,1\ny,1,1.01\n' >table.csv
for key in 'batch = 7' 'directory = "."' 'inputs = ["draw.py"]'; do
  printf '[theory]\nexpression = {y = "1"}\n[simulation]\nfile = "table.csv"\n%s\n[agreement.y]\nrelative = 0.1\n' "$key" >table.toml
  run 2 run table.toml --dry-run
  says err "'${key%% *}' without 'command'"
done
finish
