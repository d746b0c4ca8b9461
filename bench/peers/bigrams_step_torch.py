#!/usr/bin/python3
"""PyTorch peer of the benchmark bigrams_step: one SGD step with hat gradients on fresh sequences, single precision.

The same work as attica's: T tokens for each of B sequences, u = X a by scatter-add, r = V u - y, w = V' r, the gradient
of a by look-up w[x], columns of A added up by last token, both updates. Everything is batched. At N = 20 the dense
formulation, with one-hot X (B x N x T), is timed as well; it goes by the name of the case with /dense.
"""
import peer  # before torch
import torch

torch.set_num_threads(1)
Q, ETA = 2, 1e-3


class Problem:
    def __init__(self, tokens, context, batch):
        self.n, self.t, self.b = tokens, context, batch
        self.p = torch.full((tokens, tokens), 0.2 / (tokens - 1))
        self.p.fill_diagonal_(0.8)
        self.support = torch.stack([torch.randperm(context)[:Q] for _ in range(tokens)])
        self.v = torch.full((tokens, tokens), 1 / tokens)
        self.a = torch.full((tokens, context), 1 / context)  # row k: column k of A

    def samples(self):
        x = torch.randint(self.n, (self.b, self.t))
        k = torch.randint(self.n, (self.b,))
        at = self.support[k, torch.randint(Q, (self.b,))]
        y = torch.multinomial(self.p.T[x[torch.arange(self.b), at]], 1)[:, 0]
        return x, k, y

    def update(self, u, r, k, columns):
        """columns: per sample the gradient of its column of A."""
        ut = u * self.n - self.a[k].sum(1, keepdim=True)
        gv = r.T @ ut / self.b
        ga = torch.zeros_like(self.a).index_add_(0, k, columns) / self.b
        self.v -= ETA * (gv - gv.mean(0, keepdim=True))
        self.a -= ETA * self.n * (ga - ga.mean(1, keepdim=True))

    def residual(self, u, y):
        r = u @ self.v.T
        r[torch.arange(self.b), y] -= 1
        return r

    def scatter_step(self):
        x, k, y = self.samples()
        u = torch.zeros(self.b, self.n).scatter_add_(1, x, self.a[k])
        r = self.residual(u, y)
        self.update(u, r, k, torch.gather(r @ self.v, 1, x))

    def dense_step(self):
        x, k, y = self.samples()
        one_hot = torch.nn.functional.one_hot(x, self.n).to(torch.float32)  # B x T x N
        u = torch.bmm(one_hot.transpose(1, 2), self.a[k][:, :, None])[:, :, 0]
        r = self.residual(u, y)
        self.update(u, r, k, torch.bmm(one_hot, (r @ self.v)[:, :, None])[:, :, 0])


if __name__ == "__main__":
    torch.manual_seed(1)
    for n in (3, 20):
        case = f"bigrams_step/N:{n}/T:5000/B:64"
        peer.report(case, Problem(n, 5000, 64).scatter_step)
        if n == 20:
            peer.report(case + "/dense", Problem(n, 5000, 64).dense_step, least_seconds=1.0)
