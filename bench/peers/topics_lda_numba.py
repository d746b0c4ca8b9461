#!/usr/bin/env python3
"""Peer of the benchmark topics_lda: one sweep of collapsed Gibbs sampling over all tokens, as loops, compiled by numba.

The same law of documents as attica's: 60 tokens from two of K topics with disjoint words; alpha = 0.1, beta = 0.01.
"""
import peer  # before numpy: one BLAS thread, the right kernels
import numba
import numpy as np

LENGTH, ALPHA, BETA = 60, 0.1, 0.01


@numba.njit(fastmath=True)
def sweep(words, topic, of_document, of_word, of_topic):
    topics = len(of_topic)
    weight = np.empty(topics)
    smoothing = BETA * len(of_word)
    for d in range(words.shape[0]):
        for i in range(words.shape[1]):
            word, old = words[d, i], topic[d, i]
            of_document[d, old] -= 1
            of_word[word, old] -= 1
            of_topic[old] -= 1
            for k in range(topics):
                weight[k] = (of_document[d, k] + ALPHA) * (of_word[word, k] + BETA) / (of_topic[k] + smoothing)
            total = 0.0
            for k in range(topics):
                total += weight[k]
            left, new = np.random.random() * total, 0
            while new < topics - 1 and left >= weight[new]:
                left -= weight[new]
                new += 1
            topic[d, i] = new
            of_document[d, new] += 1
            of_word[word, new] += 1
            of_topic[new] += 1


rng = np.random.default_rng(1)
for documents, size, topics in ((3000, 1000, 20), (3000, 4000, 100)):
    pair = rng.integers(topics, size=(documents, 2))
    drawn = np.take_along_axis(pair, rng.integers(2, size=(documents, LENGTH)), axis=1)
    words = drawn * (size // topics) + rng.integers(size // topics, size=drawn.shape)
    topic = rng.integers(topics, size=words.shape)
    of_document, of_word = np.zeros((documents, topics), np.int32), np.zeros((size, topics), np.int32)
    np.add.at(of_document, (np.arange(documents)[:, None], topic), 1)
    np.add.at(of_word, (words, topic), 1)
    of_topic = of_word.sum(0).astype(np.int32)
    peer.report(f"topics_lda/documents:{documents}/words:{size}/K:{topics}",
                lambda: sweep(words, topic, of_document, of_word, of_topic))
