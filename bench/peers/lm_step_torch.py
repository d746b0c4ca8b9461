#!/usr/bin/python3
"""PyTorch peer of the benchmark lm_step: one next-token training step of a small causal language model.

Post-LayerNorm encoder with causal mask, sinusoidal code, embedding times sqrt(D), free decoder over V words,
cross-entropy at all positions, Adam; float, one thread; MLP as wide as the model, one head, no dropout.
One iteration = one step on data already in memory; items = tokens.
"""
import math
import statistics
import sys
import time

import peer  # before torch: one BLAS thread, the right kernels
import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
if "openblas" not in open("/proc/self/maps").read():
    print("warning: PyTorch runs without OpenBLAS, several times slower (install libopenblas0-pthread)", file=sys.stderr)


class Layer(nn.Module):
    def __init__(self, width, mlp, dropout):
        super().__init__()
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, mlp), nn.Linear(mlp, width)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask):
        """x: (B, T, D); mask: (T, T) with -inf where attention is forbidden."""
        q, k, v = self.qkv(x).chunk(3, dim=2)
        scores = torch.baddbmm(mask, q, k.transpose(1, 2), alpha=1 / math.sqrt(x.shape[2]))
        mixed = torch.bmm(self.dropout(scores.softmax(-1)), v)
        x = self.norm1(x + self.dropout(self.out(mixed)))
        return self.norm2(x + self.dropout(self.down(self.dropout(torch.relu(self.up(x))))))


class Model(nn.Module):
    def __init__(self, width, layers, length, vocabulary, mlp, dropout):
        super().__init__()
        self.width = width
        self.tokens = nn.Embedding(vocabulary, width)
        angle = torch.arange(length)[:, None] * torch.exp(torch.arange(0, width, 2) * (-math.log(1e4) / width))
        code = torch.zeros(length, width)
        code[:, 0::2], code[:, 1::2] = angle.sin(), angle.cos()
        self.register_buffer("code", code)
        self.register_buffer("mask", torch.full((length, length), -math.inf).triu(1))
        self.layers = nn.ModuleList(Layer(width, mlp, dropout) for _ in range(layers))
        self.dropout = nn.Dropout(dropout)
        self.decoder = nn.Linear(width, vocabulary)

    def forward(self, tokens):
        x = self.dropout(self.tokens(tokens) * math.sqrt(self.width) + self.code)
        for layer in self.layers:
            x = layer(x, self.mask)
        return self.decoder(x)


def measure(width, layers, length, batch, vocabulary, dropout):
    torch.manual_seed(1)
    model = Model(width, layers, length, vocabulary, width, dropout)
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-3)
    text = torch.randint(vocabulary, (batch, length + 1))
    tokens, targets = text[:, :-1].contiguous(), text[:, 1:].reshape(-1)

    def step():
        optimiser.zero_grad(set_to_none=False)
        F.cross_entropy(model(tokens).view(-1, vocabulary), targets).backward()
        optimiser.step()

    for _ in range(5):
        step()
    times, cpu_times = [], []
    while len(times) < 9 or sum(times) < 2.0:
        start, cpu_start = time.perf_counter(), time.process_time()
        step()
        times.append(time.perf_counter() - start)
        cpu_times.append(time.process_time() - cpu_start)
    return statistics.median(times), statistics.median(cpu_times)


for dropout in (0.0, 0.2):
    c = dict(width=64, layers=1, length=35, batch=20, vocabulary=2000, dropout=dropout)
    seconds, cpu = measure(**c)
    name = "lm_step/D:{width}/layers:{layers}/T:{length}/B:{batch}/V:{vocabulary}".format(**c)
    name += f"/dropout_percent:{100 * dropout:.0f}" if dropout else ""
    print(f"{name} {seconds * 1e3:.3f} ms {cpu * 1e3:.3f} ms_cpu {c['batch'] * c['length'] / cpu:.0f} items/s")
