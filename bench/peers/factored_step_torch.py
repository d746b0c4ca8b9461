#!/usr/bin/python3
"""PyTorch peer of the benchmark factored_step: one step (forward, backward, Adam) of factored attention, float32, one
thread, L = C = 20. The best of several formulations for each case. Prints `name seconds_per_iteration`.
"""
import statistics
import sys
import time

import peer  # before torch: one BLAS thread, the right kernels
import torch
import torch.nn.functional as F

torch.set_num_threads(1)
if "openblas" not in open("/proc/self/maps").read():
    print("warning: PyTorch runs without OpenBLAS, several times slower (install libopenblas0-pthread)", file=sys.stderr)
L = C = 20
OFF = 1 - torch.eye(L)


def all_batched(a, v, s, onehot, site):
    h = torch.matmul(a * OFF, F.embedding(s, v))  # B x L x C
    return F.cross_entropy(h.reshape(-1, C), s.reshape(-1))


def all_one_product(a, v, s, onehot, site):
    x = F.embedding(s.T, v).reshape(L, -1)  # L x B C
    h = ((a * OFF) @ x).reshape(-1, C)
    return F.cross_entropy(h, s.T.reshape(-1))


def all_onehot(a, v, s, onehot, site):
    h = torch.matmul(a * OFF, onehot) @ v
    return F.cross_entropy(h.reshape(-1, C), s.reshape(-1))


def one_gather(a, v, s, onehot, site):
    h = torch.bmm((a * OFF)[site].unsqueeze(1), F.embedding(s, v)).squeeze(1)
    return F.cross_entropy(h, s.gather(1, site[:, None]).squeeze(1))


def one_onehot(a, v, s, onehot, site):
    h = torch.bmm((a * OFF)[site].unsqueeze(1), onehot).squeeze(1) @ v
    return F.cross_entropy(h, s.gather(1, site[:, None]).squeeze(1))


def seconds(loss_of, batch):
    torch.manual_seed(1)
    a = torch.nn.Parameter(0.1 * torch.randn(L, L))
    v = torch.nn.Parameter(0.1 * torch.randn(C, C))
    s = torch.randint(C, (batch, L))
    site = torch.randint(L, (batch,))
    onehot = F.one_hot(s, C).float()
    optimiser = torch.optim.Adam([a, v], lr=1e-3)

    def step():
        optimiser.zero_grad()
        loss_of(a, v, s, onehot, site).backward()
        optimiser.step()

    for _ in range(20):
        step()
    times = []
    for _ in range(9):
        start = time.process_time()
        for _ in range(20):
            step()
        times.append((time.process_time() - start) / 20)
    return statistics.median(times)


for batch in (100, 1000):
    print(f"factored_step/L:20/C:20/B:{batch}/sites:all "
          f"{min(seconds(f, batch) for f in (all_batched, all_one_product, all_onehot)):.6g}")
    print(f"factored_step/L:20/C:20/B:{batch}/sites:one {min(seconds(f, batch) for f in (one_gather, one_onehot)):.6g}")
