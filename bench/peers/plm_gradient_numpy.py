#!/usr/bin/python3
"""NumPy and SciPy peer of the benchmark plm_gradient: objective and gradient of plmDCA over all sites, double precision.

All sites at once: logits H = X W + b with the one-hot alignment X (M x L C) and W (L C x L C), blocks W_ii = 0. Two
formulations, X dense (BLAS) and X sparse (CSR); the quicker one counts. Prints `name seconds`.
"""
import statistics
import time

import peer  # noqa: F401, before numpy: one BLAS thread
import numpy as np
import scipy.sparse

L, C, M, LAMBDA = 50, 21, 5000, 0.01


def objective_and_gradient(x, xt, onehot, w, b):
    h = (x @ w + b).reshape(M, L, C)
    h -= h.max(axis=2, keepdims=True)
    target = (h * onehot).sum()
    np.exp(h, out=h)
    total = h.sum(axis=2, keepdims=True)
    loss = (np.log(total).sum() - target) / M + 0.5 * LAMBDA * (w * w).sum()
    h /= total
    h -= onehot
    g = h.reshape(M, L * C) / M
    dw = xt @ g
    for i in range(L):
        dw[i * C:(i + 1) * C, i * C:(i + 1) * C] = 0
    return loss / L, (dw + LAMBDA * w) / L, g.sum(axis=0) / L


def seconds(f):
    f()
    times = []
    for _ in range(5):
        start = time.process_time()
        f()
        times.append(time.process_time() - start)
    return statistics.median(times)


rng = np.random.default_rng(1)
s = rng.integers(C, size=(M, L))
onehot = np.eye(C)[s]
dense = onehot.reshape(M, L * C)
sparse = scipy.sparse.csr_matrix(dense)
sparse_t = sparse.T.tocsr()
w = 0.1 * rng.standard_normal((L * C, L * C))
for i in range(L):
    w[i * C:(i + 1) * C, i * C:(i + 1) * C] = 0
b = 0.1 * rng.standard_normal(L * C)
of_dense = objective_and_gradient(dense, dense.T, onehot, w, b)
of_sparse = objective_and_gradient(sparse, sparse_t, onehot, w, b)
assert all(np.allclose(p, q) for p, q in zip(of_dense, of_sparse))
best = min(seconds(lambda: objective_and_gradient(dense, dense.T, onehot, w, b)),
           seconds(lambda: objective_and_gradient(sparse, sparse_t, onehot, w, b)))
print(f"plm_gradient/L:{L}/C:{C}/M:{M} {best:.6g}")
