#!/usr/bin/env python3
"""PyTorch peer of the benchmark training_theory_transformer: three steps of the theory for a layer of softmax attention.

Sequences of six sites and three colours, one site masked: 1458 inputs, each with three possible targets (n = 4374), width 16
(P = 1235), batches of 64, 20 axes; double precision, as in attica. The query, mixing and decoder are evaluated at the masked
site only; inputs are evaluated once, however many targets they have.
"""
import itertools

import peer  # before torch: one BLAS thread, the right kernels
import torch
from population_recursion import theory

SITES, COLOURS, WIDTH = 6, 3, 16
SHAPES = [(COLOURS + 1, WIDTH), (SITES, WIDTH)] + 4 * [(WIDTH, WIDTH)] + [(COLOURS, WIDTH), (COLOURS,)]
SIZES = [torch.Size(shape).numel() for shape in SHAPES]
TOKENS, MASKED = [], []
for site in range(SITES):
    for rest in itertools.product(range(COLOURS), repeat=SITES - 1):
        TOKENS.append(rest[:site] + (COLOURS,) + rest[site:])
        MASKED.append(site)
TOKENS, MASKED = torch.tensor(TOKENS), torch.tensor(MASKED)
ROWS = torch.arange(len(TOKENS))
P = torch.full((len(TOKENS) * COLOURS,), 1 / (len(TOKENS) * COLOURS))
P = P * (1 + 0.5 * torch.sin(1.0 + 3 * torch.arange(len(P))))
P = P / P.sum()
START = 0.4 * torch.sin(1 + 1.7 * torch.arange(sum(SIZES)).double())


def losses_of(theta):
    tokens, positions, query, key, value, out, decoder, bias = (
        part.view(shape) for part, shape in zip(theta.split(SIZES), SHAPES)
    )
    x = tokens[TOKENS] + positions
    own = x[ROWS, MASKED]
    k, v = (x @ torch.cat([key, value]).T).split(WIDTH, dim=2)
    scores = (k @ (own @ query.T)[:, :, None])[:, :, 0] / WIDTH**0.5
    mixed = (scores.softmax(1)[:, None] @ v)[:, 0]
    logits = (own + mixed @ out.T) @ decoder.T + bias
    return -logits.log_softmax(1).reshape(-1)


def passes(theta, weights=None):
    losses, gradients = [torch.zeros(0, len(P))], [torch.zeros(0, theta.shape[1])]
    for place, at in enumerate(theta):
        if weights is None:
            with torch.no_grad():
                losses.append(losses_of(at)[None])
            continue
        at = at.detach().requires_grad_(True)
        found = losses_of(at)
        losses.append(found.detach()[None])
        gradients.append(torch.autograd.grad(found @ (weights if weights.dim() == 1 else weights[place]), at)[0][None])
    return torch.cat(losses), torch.cat(gradients)


if __name__ == "__main__":
    peer.report(
        "training_theory_transformer/real_time", lambda: theory(passes, START, P, 0.1, 3, rank=20, batch=64), least_runs=3
    )
