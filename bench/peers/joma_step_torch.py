#!/usr/bin/env python3
"""Peer of the benchmark joma_step: the same step by PyTorch's automatic differentiation, double precision.

An iteration of the timing is 200 steps.
"""
import peer  # before torch: one BLAS thread, the right kernels
import torch

torch.set_num_threads(1)
torch.set_default_dtype(torch.double)
M, RATE, T, STEPS = 20, 0.1, 0.5, 200
torch.manual_seed(1)
X = torch.rand(M, M)
X /= X.sum(1, keepdim=True)
LABELS = torch.arange(M)


def run():
    state = [torch.zeros(shape, requires_grad=True) for shape in ((M, M), (M,), (M,))]
    optimizer = torch.optim.SGD(state, lr=RATE)
    for _ in range(STEPS):
        v, r, z = state
        b = torch.softmax(X.log() + z / T, 1)
        loss = torch.nn.functional.cross_entropy(b @ v.T + r, LABELS)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()


peer.report("joma_step", run, parts=1 / STEPS)
