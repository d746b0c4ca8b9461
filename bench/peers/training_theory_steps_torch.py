#!/usr/bin/env python3
"""PyTorch peer of the benchmark training_theory_steps: all passes along the axes in one call, gradients by hand.

P = 161, n = 81, 40 axes or as many as parameters; minibatches of 32, or 200 fixed samples. An iteration is ten steps.
(Gradients by autograd take longer.)
"""
import peer  # before torch: one BLAS thread, the right kernels
import torch
from population_recursion import theory

UNITS, INPUTS, SAMPLES, RATE, STEPS = 16, 8, 81, 0.05, 10
PARAMETERS = (INPUTS + 2) * UNITS + 1
i, s = torch.arange(INPUTS)[:, None].double(), torch.arange(SAMPLES).double()
X = torch.sin(1.0 + i * i + 3 * s)
Y = torch.cos(2.0 * s)
P = torch.full((SAMPLES,), 1 / SAMPLES)
START = 0.5 * torch.sin(1 + 1.7 * torch.arange(PARAMETERS).double())


def passes(theta, weights=None):
    k = len(theta)
    w = theta[:, : INPUTS * UNITS].reshape(k, INPUTS, UNITS).transpose(1, 2)  # by columns, as in C++
    b, v = theta[:, INPUTS * UNITS :][:, :UNITS], theta[:, (INPUTS + 1) * UNITS : -1]
    t = torch.tanh(w @ X + b[:, :, None])
    residual = (v[:, None] @ t)[:, 0] + theta[:, -1:] - Y
    losses = residual**2 / 2
    if weights is None:
        return losses, None
    pull = weights * residual
    inner = v[:, :, None] * pull[:, None, :] * (1 - t * t)
    gradient = torch.empty_like(theta)
    gradient[:, : INPUTS * UNITS] = (inner @ X.T).transpose(1, 2).reshape(k, INPUTS * UNITS)
    gradient[:, INPUTS * UNITS :][:, :UNITS] = inner.sum(2)
    gradient[:, (INPUTS + 1) * UNITS : -1] = (t @ pull[:, :, None])[:, :, 0]
    gradient[:, -1] = pull.sum(1)
    return losses, gradient


if __name__ == "__main__":
    for name, batch, samples in (("batches", 32, 0), ("samples", 0, 200)):
        for rank in (40, PARAMETERS):
            peer.report(
                f"training_theory_steps/{name}/{rank}/real_time",
                lambda: theory(passes, START, P, RATE, STEPS, rank, batch, samples),
                least_runs=3,
            )
