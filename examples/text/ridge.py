"""Ridge regression of labels w.x + noise, w ~ N(0, I/n), on Gaussian inputs with variances k^-a: the mean test error."""
import sys

import numpy as np

penalty, noise, a, n, seed = float(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3]), int(float(sys.argv[4])), int(sys.argv[5])
rng = np.random.default_rng(seed)
s = np.arange(1, n + 1) ** -a
print("series,alpha,value")
for alpha in (0.5, 1.0, 2.0, 4.0, 8.0):
    samples = round(alpha * n)
    X = rng.normal(size=(samples, n)) * np.sqrt(s)
    second = X.T @ X / samples
    R = np.linalg.inv(second + penalty * np.eye(n))
    # Means over w and over the labels' noise are exact.
    bias = penalty**2 / n * np.sum(s[:, None] * R**2)
    print(f"test_error,{alpha},{noise + bias + noise / samples * np.sum(s * np.diag(R @ second @ R))}")
