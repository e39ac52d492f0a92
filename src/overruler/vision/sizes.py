"""Which catalogue size each base has: what each one looks like, and that the bases of one table come in a few sizes."""

import numpy as np

from overruler.geometry.pose import Array

PSEUDO_COUNT = 0.3
"""What the table is thought to hold of each size before it is seen: small, so that sizes already seen are preferred."""
ROUNDS = 20


def size_probabilities(log_likelihood: Array) -> Array:
    """The probability (N, C) of each size for each base from log-likelihoods (N, C).

    The shares of the sizes on this table are unknowns too: expectation maximisation of a mixture, Dirichlet prior.
    """
    count, sizes = log_likelihood.shape
    if not count:
        return np.empty((0, sizes))
    likelihood = np.exp(log_likelihood - log_likelihood.max(1, keepdims=True))
    shares = np.full(sizes, 1 / sizes)
    posterior: Array = likelihood
    for _ in range(ROUNDS):
        posterior = likelihood * shares
        posterior = posterior / posterior.sum(1, keepdims=True)
        shares = (posterior.sum(0) + PSEUDO_COUNT) / (count + PSEUDO_COUNT * sizes)
    return np.asarray(posterior)
