#!/usr/bin/python3
"""NumPy peer of the benchmark potts_gibbs: one Gibbs sweep of 1000 chains of a dense Potts model.

Vectorised over chains, float32: the fields f[k, i, a] = sum_j J_ij U[a, s_j] are kept and updated after every site.
The one with degree 3 is compared with the dense sweep: NumPy gains little from a sparse graph at this size.
Prints `name seconds_per_iteration`, one iteration = one sweep of all chains.
"""
import os
import time

if "avx512f" in open("/proc/cpuinfo").read():
    os.environ.setdefault("OPENBLAS_CORETYPE", "SkylakeX")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy as np

CHAINS = 1000


def sweep(s, fields, j, u, beta, rng):
    chains = np.arange(CHAINS)
    for i in range(s.shape[1]):
        h = beta * fields[:, i]
        p = np.exp(h - h.max(axis=1, keepdims=True))
        cumulative = np.cumsum(p, axis=1)
        threshold = rng.random(CHAINS, dtype=np.float32) * cumulative[:, -1]
        new = np.minimum((cumulative < threshold[:, None]).sum(axis=1), u.shape[0] - 1)
        change = u[new] - u[s[chains, i]]
        s[:, i] = new
        fields += j[i][None, :, None] * change[:, None, :]


def seconds(sites, colours):
    rng = np.random.default_rng(1)
    g = rng.standard_normal((sites, sites)).astype(np.float32)
    j = np.triu(g, 1)
    j = (j + j.T) / np.float32(np.sqrt(sites))
    g = rng.standard_normal((colours, colours)).astype(np.float32)
    u = (g + g.T) / np.float32(np.sqrt(2))
    u = u - u.mean(axis=0) - u.mean(axis=1)[:, None] + u.mean()
    s = rng.integers(colours, size=(CHAINS, sites))
    fields = np.einsum("ij,kja->kia", j, u[s], optimize=True)
    best = np.inf
    for _ in range(7):
        start = time.perf_counter()
        sweep(s, fields, j, u, np.float32(0.5), rng)
        best = min(best, time.perf_counter() - start)
    return best


for sites, colours in [(20, 20), (100, 4)]:
    t = seconds(sites, colours)
    print(f"potts_gibbs/L:{sites}/C:{colours} {t:.6g}")
    if colours == 4:
        print(f"potts_gibbs/L:{sites}/C:{colours}/degree:3 {t:.6g}")
