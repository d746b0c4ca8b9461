"""Trains factored attention on sequences of a Potts model with PyTorch, and prints its excess loss as a table.

usage: factored_attention.py SAMPLES BETA SEED,SEED,...

The model is P(s) = exp(beta sum_{i<j} J_ij U[s_i, s_j]) / Z with J of J.csv and U of U.csv; factored attention has the logits
sum_{j != i} A_ij V[a, s_j] for the colour a of the masked site i. The loss is the mean of -log softmax over all masked sites
and samples; the excess is the mean Kullback-Leibler divergence between true and learnt conditionals over all sequences."""

import itertools
import sys
from pathlib import Path

import torch

torch.set_default_dtype(torch.float64)


def matrix(name):
    lines = (Path(__file__).parent / name).read_text().split()
    return torch.tensor([[float(v) for v in line.split(",")] for line in lines])


samples, beta = int(float(sys.argv[1])), float(sys.argv[2])
couplings, colour_couplings = matrix("J.csv"), matrix("U.csv")
sites, colours = len(couplings), len(colour_couplings)
states = torch.tensor(list(itertools.product(range(colours), repeat=sites)))
off_diagonal = 1 - torch.eye(sites)
one_hot = torch.nn.functional.one_hot(states, colours).double()  # (sequences, sites, colours)


def logits(attention, values):
    """(sequences, sites, colours): of every site, given all others."""
    return torch.einsum("ij,ab,sjb->sia", attention * off_diagonal, values, one_hot)


energy = 0.5 * torch.einsum("sia,sia->s", logits(beta * couplings, colour_couplings), one_hot)
probability = torch.softmax(energy, 0)
truth = torch.log_softmax(logits(beta * couplings, colour_couplings), 2)


def train(weight, attention, values):
    attention, values = attention.clone().requires_grad_(), values.clone().requires_grad_()
    optimiser = torch.optim.LBFGS(
        [attention, values], max_iter=2000, tolerance_grad=1e-10, tolerance_change=1e-14, line_search_fn="strong_wolfe"
    )

    def closure():
        optimiser.zero_grad()
        log_p = torch.log_softmax(logits(attention, values), 2)
        loss = -torch.einsum("s,sia,sia->", weight, log_p, one_hot) / sites
        loss.backward()
        return loss

    optimiser.step(closure)
    return closure().item(), attention.detach(), values.detach()


def excess_loss(seed):
    generator = torch.Generator().manual_seed(seed % 2**63)
    drawn = torch.multinomial(probability, samples, replacement=True, generator=generator)
    weight = torch.bincount(drawn, minlength=len(states)) / samples
    # The loss is not convex: the best of some random starts.
    starts = [
        (
            torch.randn(sites, sites, generator=generator) / sites**0.5,
            torch.randn(colours, colours, generator=generator),
        )
        for _ in range(6)
    ]
    _, attention, values = min((train(weight, a, v) for a, v in starts), key=lambda trained: trained[0])
    learnt = torch.log_softmax(logits(attention, values), 2)
    return (torch.einsum("s,sia,sia->", probability, truth.exp(), truth - learnt) / sites).item()


print("series,model,replicate,value")
for place, seed in enumerate(sys.argv[3].split(",")):
    print(f"excess_loss,factored,{place},{excess_loss(int(seed))!r}", flush=True)
