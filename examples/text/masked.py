"""A masked autoencoder of one linear unit, fresh masks: the minimum of the mean over all masks, which second moments fix."""
import sys

import numpy as np

beta, rho, penalty, d, seed = float(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3]), int(float(sys.argv[4])), int(sys.argv[5])
rng = np.random.default_rng(seed)
a, b = 1 - rho, rho
print("series,alpha,value")
for alpha in (4.0, 6.3, 10.0):
    n = round(alpha * d)
    noise = 0.25 + 2.25 * (1 - np.sqrt(1 - rng.permutation((np.arange(d) + 0.5) / d)))
    u = rng.choice([-1.0, 1.0], size=d)
    x = np.sqrt(beta / d) * np.outer(rng.normal(size=n), u) + rng.normal(size=(n, d)) * np.sqrt(noise)
    S = x.T @ x / n
    p = np.diag(S)

    def gradient(w):
        Q, h, k, Sw = w @ w / d, w @ S @ w / d, p @ w**2 / d, S @ w
        dh, dk, dQ = 2 * Sw, 2 * p * w, 2 * w
        dh3, dk3 = (S @ w**3 + 3 * w**2 * Sw) / d, 4 * p * w**3 / d
        mean = a * a * b * (dQ * (h - k) + Q * (dh - dk) - 2 * (dh3 - dk3)) + a * b * (dQ * k + Q * dk - dk3 - 2 * (dh - dk))
        return mean / d + penalty * w / n

    w = np.linalg.eigh(S - 1.7 * np.diag(p))[1][:, -1] * np.sqrt(d)
    g, step = gradient(w), 0.1
    for k in range(3000):  # Barzilai and Borwein 1988
        new = w - step * g
        change, after = new - w, gradient(new)
        step = change @ change / max(abs(change @ (after - g)), 1e-300)
        w, g = new, after
        if np.abs(g).max() < 1e-9:
            break
    print(f"cosine,{alpha},{abs(w @ u) / np.sqrt(d * (w @ w))}\nQ,{alpha},{w @ w / d}")
