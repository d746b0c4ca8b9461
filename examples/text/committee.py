"""Online SGD of two erf units on a teacher of two, overlaps 0.2, 0.25 and 0.01 at the start; a fresh sample every step."""
import math
import sys

import numpy as np

rate, n, seed = float(sys.argv[1]), int(float(sys.argv[2])), int(sys.argv[3])
rng = np.random.default_rng(seed)
axes = np.linalg.qr(rng.normal(size=(n, 4)))[0].T * np.sqrt(n)
teacher = axes[:2]
units = 0.01 * teacher + np.sqrt(np.array([[0.2], [0.25]]) - 1e-4) * axes[2:]
print("series,t,value")
step = 0
for t in (0.5, 1.0, 5.0, 10.0):
    steps = round(t * n) - step
    inputs = rng.normal(size=(steps, n)) / np.sqrt(n)
    wanted = inputs @ teacher.T
    for x, field in zip(inputs, wanted):
        h = units @ x
        delta = sum(math.erf(u / math.sqrt(2)) for u in field) - sum(math.erf(u / math.sqrt(2)) for u in h)
        units += rate * delta * np.sqrt(2 / np.pi) * np.exp(-h * h / 2)[:, None] * x
    step += steps
    both = np.vstack([units, teacher])
    C = both @ both.T / n
    scale = np.sqrt(1 + np.diag(C))
    sign = np.array([-1, -1, 1, 1])
    print(f"error,{t},{sign @ np.arcsin(C / np.outer(scale, scale)) @ sign / np.pi}")
