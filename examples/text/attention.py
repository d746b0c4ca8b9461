"""Rows of softmax attention at initialisation: T independent Gaussian logits of variance beta^2 ln T; the mean of sum A^2."""
import sys

import numpy as np

T, seed = int(float(sys.argv[1])), int(sys.argv[2])
z = np.random.default_rng(seed).normal(size=(2000, T))
print("series,beta,value")
for beta in (0.5, 1.0, 1.5, 2.0, 3.0):
    A = np.exp(beta * np.sqrt(np.log(T)) * (z - z.max(axis=1, keepdims=True)))
    print(f"participation,{beta},{np.mean(np.sum(A**2, axis=1) / np.sum(A, axis=1) ** 2)}")
