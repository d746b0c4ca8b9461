#!/usr/bin/python3
"""NumPy peer of the benchmark potts_gibbs: one Gibbs sweep of 1000 chains of a dense Potts model.

Vectorised over chains, float32, chains innermost so that every operation runs along memory: the fields
f[i, a, k] = sum_j J_ij U[a, s_j] are kept and updated after every site. The one with degree 3 is compared with the dense
sweep: NumPy gains little from a sparse graph at this size. Prints `name seconds`, one iteration = one sweep of all chains.
"""
import statistics
import time

import peer  # noqa: F401, before numpy: one BLAS thread
import numpy as np

CHAINS = 1000


def sweep(s, fields, j, u, beta, rng, scratch):
    for i in range(len(s)):
        h = beta * fields[i]
        h -= h.max(axis=0)
        cumulative = np.cumsum(np.exp(h, out=h), axis=0)
        threshold = rng.random(CHAINS, dtype=np.float32) * cumulative[-1]
        new = np.minimum((cumulative < threshold).sum(axis=0), len(u) - 1)
        change = u[:, new] - u[:, s[i]]
        s[i] = new
        np.multiply(j[i][:, None, None], change, out=scratch)
        fields += scratch


def seconds(sites, colours):
    rng = np.random.default_rng(1)
    g = rng.standard_normal((sites, sites)).astype(np.float32)
    j = np.triu(g, 1)
    j = (j + j.T) / np.float32(np.sqrt(sites))
    g = rng.standard_normal((colours, colours)).astype(np.float32)
    u = (g + g.T) / np.float32(np.sqrt(2))
    u = u - u.mean(axis=0) - u.mean(axis=1)[:, None] + u.mean()
    s = rng.integers(colours, size=(sites, CHAINS))
    fields = np.ascontiguousarray(np.einsum("ij,ajk->iak", j, u[:, s], optimize=True))
    scratch = np.empty_like(fields)
    times = []
    for _ in range(15):
        start = time.process_time()
        sweep(s, fields, j, u, np.float32(0.5), rng, scratch)
        times.append(time.process_time() - start)
    return statistics.median(times)


for sites, colours in [(20, 20), (100, 4)]:
    t = seconds(sites, colours)
    print(f"potts_gibbs/L:{sites}/C:{colours} {t:.6g}")
    if colours == 4:
        print(f"potts_gibbs/L:{sites}/C:{colours}/degree:3 {t:.6g}")
