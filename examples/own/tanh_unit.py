"""One unit v tanh(w x + b) learns 20 values, in plain Python.

    tanh_unit.py passes                   answers passes for [theory.training], a line for every line
    tanh_unit.py train ETA BATCH SEED     trains with minibatches and prints a table
"""

import json
import math
import random
import sys

X = [-1.9 + 0.2 * k for k in range(20)]
Y = [math.sin(x) + (0.3 if k % 3 == 0 else -0.15) for k, x in enumerate(X)]
START = [0.5, 0.3, 0.0]  # v, w, b
STEPS = [3, 10, 30, 100, 200]


def losses_and_gradient(theta, weights):
    """Losses (v tanh(w x + b) - y)^2 / 2 of all samples, and the gradient of their weighted sum."""
    v, w, b = theta
    losses, gradient = [], [0.0, 0.0, 0.0]
    for x, y, weight in zip(X, Y, weights):
        t = math.tanh(w * x + b)
        error = v * t - y
        losses.append(error * error / 2)
        inner = weight * error * v * (1 - t * t)
        gradient[0] += weight * error * t
        gradient[1] += inner * x
        gradient[2] += inner
    return losses, gradient


def passes():
    for line in sys.stdin:
        asked = json.loads(line)
        v, w, _ = asked["theta"]
        losses, gradient = losses_and_gradient(asked["theta"], asked["weights"] or [0.0] * len(X))
        answer = {"losses": losses, "gradient": gradient, "observables": {"slope": v * w}}
        print(json.dumps(answer), flush=True)


def train(eta, batch, seed):
    stream = random.Random(seed)
    theta = list(START)
    print("series,step,value")
    for step in range(STEPS[-1] + 1):
        if step in STEPS:
            print(f"loss,{step},{sum(losses_and_gradient(theta, [0.0] * len(X))[0]) / len(X)}")
            print(f"norm,{step},{sum(entry * entry for entry in theta)}")
            print(f"slope,{step},{theta[0] * theta[1]}")
        weights = [0.0] * len(X)
        for _ in range(batch):
            weights[stream.randrange(len(X))] += 1 / batch
        _, gradient = losses_and_gradient(theta, weights)
        theta = [entry - eta * g for entry, g in zip(theta, gradient)]


if sys.argv[1] == "passes":
    passes()
else:
    train(float(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
