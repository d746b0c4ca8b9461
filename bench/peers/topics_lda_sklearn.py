#!/usr/bin/python3
"""scikit-learn peer of the benchmark topics_lda: one pass of online variational Bayes over all documents, and the training
perplexity after as many seconds of CPU time as topics_lda_perplexity takes.

The same law of documents as attica's: 60 tokens from two of K topics with disjoint words. A pass updates the topics once
per batch of 128 documents, scikit-learn's default for `online`. Perplexity is exp(-mean log p(token)) with the estimated
weights, as in attica, not scikit-learn's bound.
"""
import peer  # before numpy
import numpy
import time
from scipy.sparse import csr_matrix
from sklearn.decomposition import LatentDirichletAllocation

LENGTH = 60


def corpus(documents, words, topics, random):
    per_topic = words // topics
    pair = random.integers(topics, size=(documents, 2))
    topic = numpy.take_along_axis(pair, random.integers(2, size=(documents, LENGTH)), axis=1)
    token = topic * per_topic + random.integers(per_topic, size=topic.shape)
    rows = numpy.repeat(numpy.arange(documents), LENGTH)
    return csr_matrix((numpy.ones(rows.size), (rows, token.ravel())), shape=(documents, words))


def model(topics, documents):
    return LatentDirichletAllocation(n_components=topics, doc_topic_prior=0.1, topic_word_prior=0.01,
                                     learning_method="online", batch_size=128, total_samples=documents, random_state=1)


def perplexity(lda, counts):
    theta = lda.transform(counts)
    phi = lda.components_ / lda.components_.sum(1, keepdims=True)
    coo = counts.tocoo()
    p = numpy.einsum("ik,ik->i", theta[coo.row], phi.T[coo.col])
    return numpy.exp(-(coo.data * numpy.log(p)).sum() / coo.data.sum())


if __name__ == "__main__":
    random = numpy.random.default_rng(1)
    for documents, words, topics in ((3000, 1000, 20), (3000, 4000, 100)):
        counts = corpus(documents, words, topics, random)
        lda = model(topics, documents)
        peer.report(f"topics_lda/documents:{documents}/words:{words}/K:{topics}", lambda: lda.partial_fit(counts),
                    least_runs=3)
    counts = corpus(3000, 1000, 20, random)
    for seconds in (1, 4):
        lda = model(20, 3000)
        end = time.process_time() + seconds
        passes = 0
        while time.process_time() < end:
            lda.partial_fit(counts)
            passes += 1
        print(f"# scikit-learn after {seconds} s ({passes} passes): perplexity {perplexity(lda, counts):.2f}", flush=True)
