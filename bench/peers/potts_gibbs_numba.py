#!/usr/bin/env python3
"""Peer of the benchmark potts_gibbs: one Gibbs sweep of 1000 chains of a Potts model, as loops, compiled by numba.

The fields f[i, a] = sum_j J_ij U[a, s_j] of a chain are kept and updated after every site that changes. With degree 3
only the neighbours are.
"""
import peer  # before numpy: one BLAS thread, the right kernels
import numba
import numpy as np

CHAINS, BETA = 1000, np.float32(0.5)


@numba.njit(fastmath=True)
def sweep(s, fields, u, beta, first, neighbour, coupling):
    sites, colours = fields.shape[1:]
    weight = np.empty(colours, np.float32)
    for chain in range(len(s)):
        f = fields[chain]
        for i in range(sites):
            largest = f[i].max()
            total = np.float32(0)
            for a in range(colours):
                weight[a] = np.exp(beta * (f[i, a] - largest))
            for a in range(colours):
                total += weight[a]
            left = np.float32(np.random.random()) * total
            new = 0
            while new < colours - 1 and left >= weight[new]:
                left -= weight[new]
                new += 1
            old = s[chain, i]
            if new == old:
                continue
            s[chain, i] = new
            for a in range(colours):
                weight[a] = u[new, a] - u[old, a]
            for n in range(first[i], first[i + 1]):
                j = neighbour[n]
                for a in range(colours):
                    f[j, a] += coupling[n] * weight[a]


def time_case(name, sites, colours, degree):
    rng = np.random.default_rng(1)
    g = rng.standard_normal((sites, sites)).astype(np.float32)
    j = np.triu(g, 1)
    j = (j + j.T) / np.float32(np.sqrt(sites))
    if degree:  # a ring and its chords
        distance = np.abs(np.subtract.outer(np.arange(sites), np.arange(sites)))
        j *= (distance == 1) | (distance == sites - 1) | (distance == sites // 2)
    g = rng.standard_normal((colours, colours)).astype(np.float32)
    u = (g + g.T) / np.float32(np.sqrt(2))
    u = u - u.mean(axis=0) - u.mean(axis=1)[:, None] + u.mean()
    s = rng.integers(colours, size=(CHAINS, sites))
    fields = np.ascontiguousarray(np.einsum("ij,kja->kia", j, u[s], optimize=True))
    neighbours = [np.flatnonzero(row) for row in j]
    first = np.cumsum([0] + [len(n) for n in neighbours])
    neighbour = np.concatenate(neighbours)
    coupling = np.concatenate([row[n] for row, n in zip(j, neighbours)])
    peer.report(name, lambda: sweep(s, fields, u, BETA, first, neighbour, coupling))


time_case("potts_gibbs/L:20/C:20", 20, 20, 0)
time_case("potts_gibbs/L:100/C:4", 100, 4, 0)
time_case("potts_gibbs/L:100/C:4/degree:3", 100, 4, 3)
