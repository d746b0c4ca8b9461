#!/usr/bin/python3
"""PyTorch peer of the benchmark transformer_step: one training step of a masked-site transformer.

Pre-LayerNorm transformer on sequences of L colours, one masked site per sequence, cross-entropy at that site,
Adam; float, one thread. The last layer's queries, MLP and decoder are evaluated at the masked site only, and the
projections of query, key and value are one product, as in attica. One iteration = one step on data already in memory.
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
    def __init__(self, width, heads, mlp):
        super().__init__()
        self.width, self.heads = width, heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.up, self.down = nn.Linear(width, mlp), nn.Linear(mlp, width)

    def forward(self, x, sites=None):
        """x: (B, L, D). With sites (B) only the row of that site is returned: (B, 1, D)."""
        b, length, d = x.shape
        h = self.heads
        normed = self.norm1(x)
        if sites is None:
            q, k, v = self.qkv(normed).split(d, dim=2)
        else:
            rows = torch.arange(b)
            x = x[rows, sites].unsqueeze(1)
            q = F.linear(normed[rows, sites].unsqueeze(1), self.qkv.weight[:d])
            k, v = F.linear(normed, self.qkv.weight[d:]).split(d, dim=2)

        def split(t):
            return t.reshape(b, -1, h, d // h).transpose(1, 2)

        scores = split(q) @ split(k).transpose(2, 3) * (1 / math.sqrt(d // h))
        mixed = (scores.softmax(-1) @ split(v)).transpose(1, 2).reshape(b, -1, d)
        x = x + self.out(mixed)
        return x + self.down(torch.relu(self.up(self.norm2(x))))


class Model(nn.Module):
    def __init__(self, length, colours, width, layers, heads, mlp):
        super().__init__()
        self.tokens = nn.Embedding(colours + 1, width)
        self.positions = nn.Parameter(0.02 * torch.randn(length, width))
        self.layers = nn.ModuleList(Layer(width, heads, mlp) for _ in range(layers))
        self.decoder = nn.Linear(width, colours)

    def forward(self, tokens, sites):
        x = self.tokens(tokens) + self.positions
        for layer in self.layers[:-1]:
            x = layer(x)
        return self.decoder(self.layers[-1](x, sites)[:, 0])


def measure(length, colours, width, layers, heads, mlp, batch):
    torch.manual_seed(1)
    model = Model(length, colours, width, layers, heads, mlp)
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-3)
    tokens = torch.randint(colours, (batch, length))
    sites = torch.randint(length, (batch,))
    rows = torch.arange(batch)
    targets = tokens[rows, sites]
    tokens[rows, sites] = colours

    def step():
        optimiser.zero_grad(set_to_none=False)
        F.cross_entropy(model(tokens, sites), targets).backward()
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


for c in [dict(length=20, colours=20, width=128, layers=3, heads=4, mlp=512, batch=128),
          dict(length=20, colours=20, width=20, layers=3, heads=1, mlp=80, batch=128)]:
    seconds, cpu = measure(**c)
    name = "transformer_step/L:{length}/C:{colours}/D:{width}/layers:{layers}/heads:{heads}/mlp:{mlp}/B:{batch}"
    print(f"{name.format(**c)} {seconds * 1e3:.3f} ms {cpu * 1e3:.3f} ms_cpu {c['batch'] / cpu:.0f} items/s")
