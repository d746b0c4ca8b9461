#!/usr/bin/env bash
# The edge of a map runs between places that agree and those that do not, without gaps and through none of them.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
# Few replicates leave places undecided, which are not bisected: squares of different sizes lie side by side.
run 0 map potts-sampler --x sweep.beta=0.125..0.5:4 --y sim.draws=200..3200:3:log --depth 2 --replicates 8 --margin 0.1 --name order \
  --set model.sites=8 --set model.colours=2 --set 'model.couplings="binary"' --set model.density=1 \
  --set 'model.colour_couplings="potts"' --quiet --format svg
cat >edge.py <<'PYTHON'
import itertools, json, math, sys
told = json.load(open(sys.argv[1]))
scale = [math.log if told[k]["scale"] == "log" else float for k in "xy"]
ends = [(s(told[k]["low"]), s(told[k]["high"])) for k, s in zip("xy", scale)]
# In units of the coarse grid's squares.
unit = lambda p: tuple((s(v) - low) / (high - low) * (told[k]["places"] - 1) for v, k, s, (low, high) in zip(p, "xy", scale, ends))
places = {tuple(round(v, 6) for v in unit((c["x"], c["y"]))): c["verdict"] for c in told["cells"]}
agrees = {p: v in ("AGREE", "CLAIMS HOLD") for p, v in places.items()}
lines = [[unit(p) for p in line] for line in told["edge"]]
assert any(agrees.values()) and not all(agrees.values()) and lines, told["counts"]
border = lambda p: any(abs(v) < 1e-6 or abs(v - told[k]["places"] + 1) < 1e-6 for v, k in zip(p, "xy"))
for line in lines:
    assert line[0] == line[-1] or border(line[0]) and border(line[-1]), ("a line ends inside", line)
def distance(p, a, b):
    d = [v - u for u, v in zip(a, b)]
    t = min(1, max(0, sum((u - v) * w for u, v, w in zip(p, a, d)) / sum(w * w for w in d)))
    return math.dist(p, [u + t * w for u, w in zip(a, d)])
for line in lines:
    for a, b in zip(line, line[1:]):
        near = min(places, key=lambda p: distance(p, a, b))
        assert distance(near, a, b) > 0.02, ("through the place", near, places[near])
# Neighbours on a row or column, one of which agrees, have a line between them: at the middle, where no place is nearer.
step = 2.0 ** -told["depth"]
for p, q in itertools.combinations(places, 2):
    if agrees[p] == agrees[q] or math.dist(p, q) > step + 1e-6: continue
    middle = [(u + v) / 2 for u, v in zip(p, q)]
    assert min(distance(middle, a, b) for line in lines for a, b in zip(line, line[1:])) < 1e-6, ("no edge between", p, q)
PYTHON
python 0 edge.py maps/order-*/map.json
finish
