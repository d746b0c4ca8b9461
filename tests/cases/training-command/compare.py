"""The theory of the card is that of attica.training, digit by digit."""
import csv
import io
import sys

import attica

sys.argv, sys.stdin = ["tanh_unit.py", "passes"], io.StringIO()  # nothing to answer
import tanh_unit


def model(theta, weights):
    losses, gradient = tanh_unit.losses_and_gradient(theta, [0.0] * 20 if weights is None else weights)
    return losses, None if weights is None else gradient


theory = attica.training(
    model, start=tanh_unit.START, rate=0.2, batch=32, steps=tanh_unit.STEPS, pairs=16,
    observables={"norm": lambda theta: (theta**2).sum(), "slope": lambda theta: theta[0] * theta[1]},
)
compared = 0
for row in csv.DictReader(line for line in open("card.csv") if not line.startswith("#")):
    s = theory[row["series"]]
    k = tanh_unit.STEPS.index(float(row["x"]))
    assert abs(float(row["mean"]) - s.value[k]) <= 1e-12 * abs(s.value[k]), row
    compared += 1
assert compared == 20, compared
