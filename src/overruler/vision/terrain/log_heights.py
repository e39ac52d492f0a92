"""Heights of raised ground, whose logarithms are distributed about normally: nothing raised has none."""

import numpy as np
from numpy.typing import ArrayLike

from overruler.geometry.pose import Array


def mean_and_sigma(weight: Array, heights_mm: Array) -> tuple[float, float]:
    """Return the mean of heights (H,) in the logarithm, and its 1 σ in mm, for weights of sum 1."""
    logs = np.log(heights_mm)
    mean = float(weight @ logs)
    height = float(np.exp(mean))
    return height, height * float(np.sqrt(weight @ (logs - mean) ** 2))


def height_and_evidence(
    heights_mm: Array, prior: Array, nats: Array, flat_nats: ArrayLike
) -> tuple[float, float, float]:
    """Return the posterior mean of a height and its 1 σ, in mm, and the evidence that there is one.

    `prior` and `nats` (H,) are the prior weight of each height and its log-likelihood; `flat_nats` is
    that of no height. The evidence is in nats.
    """
    weight = prior / prior.sum() * np.exp(nats - nats.max())
    evidence = float(np.log(weight.sum()) + nats.max() - flat_nats)
    return *mean_and_sigma(weight / weight.sum(), heights_mm), evidence
