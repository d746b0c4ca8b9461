"""Least squares on Gaussian data, with nothing but Python: prints the test error of one data set as a table.

usage: least_squares.py ALPHA INPUTS NOISE SEED"""

import random
import sys


def solve(matrix, right):
    """The x with matrix x = right, by elimination with the largest pivot."""
    n = len(right)
    rows = [row[:] + [value] for row, value in zip(matrix, right)]
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(rows[i][k]))
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for i in range(k + 1, n):
            factor = rows[i][k] / rows[k][k]
            rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k])]
    x = [0.0] * n
    for k in reversed(range(n)):
        x[k] = (rows[k][n] - sum(rows[k][j] * x[j] for j in range(k + 1, n))) / rows[k][k]
    return x


alpha, inputs, noise, seed = float(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
draw = random.Random(seed)
samples = round(alpha * inputs)
teacher = [draw.gauss(0, 1) for _ in range(inputs)]
gram = [[0.0] * inputs for _ in range(inputs)]
moment = [0.0] * inputs
for _ in range(samples):
    x = [draw.gauss(0, 1) for _ in range(inputs)]
    y = sum(t * v for t, v in zip(teacher, x)) + noise * draw.gauss(0, 1)
    for i in range(inputs):
        moment[i] += y * x[i]
        row = gram[i]
        for j in range(inputs):
            row[j] += x[i] * x[j]
student = solve(gram, moment)
error = noise**2 + sum((s - t) ** 2 for s, t in zip(student, teacher))
print("series,value")
print(f"test_error,{error}")
