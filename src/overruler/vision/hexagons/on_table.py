"""Which rims of a table are hexagons, given that a table has several of them or none."""

from collections.abc import Callable, Sequence

import numpy as np

from overruler.geometry.pose import Array
from overruler.vision.hexagons.rim_evidence import RimEvidence
from overruler.vision.learned.coefficients import load_coefficients
from overruler.vision.learned.logits import sigmoid

LOGIT_WEIGHTS = np.array(list(load_coefficients("hexagon_odds").values()))
"""Weights of a rim's log odds, if as many rims are hexagons as round: constant, how much likelier a hexagon
is by the edges, and how much the radius varies by the colours."""
TABLE_SHARE = 0.02
"""Share of tables with hexagons among those of which nothing is known: a judgement."""
NAMED_SHARE = 0.9
"""Share of tables with hexagons where somebody names some: a judgement."""
MOST_NATS = 4.0
"""Most that one rim says either way: all its errors may have one cause."""
SHARES = (np.arange(20) + 0.5) / 20
"""Shares of hexagons among a table's rims, each as likely where there are any."""
FIRST_LOOKS, LEAST_HOPE = 10, 0.002
"""So many rims, of all sizes, are looked at first; the rest are where one of them is a hexagon with this
probability."""


def hexagon_features(evidence: RimEvidence) -> list[float]:
    """Return what the log odds of one rim are weighed from (3)."""
    return [1.0, evidence.hexagon - evidence.circle, evidence.sixth]


def hexagon_logit(evidence: RimEvidence) -> float:
    """Return the log odds that a rim is a hexagon, if as many are hexagons as round."""
    return float(hexagon_features(evidence) @ LOGIT_WEIGHTS)


def hexagon_probabilities(logits: Array, table_share: float = TABLE_SHARE) -> Array:
    """Return the probability (N,) that each rim of a table is a hexagon, from log odds (N,).

    `table_share` is the prior probability that the table has any. Where it has, any share of the rims
    are hexagons: the mean over all shares counts (Bayesian model averaging).
    """
    odds = np.exp(logits.clip(-MOST_NATS, MOST_NATS))
    mixed = 1 - SHARES[:, None] + SHARES[:, None] * odds
    log_evidence = np.log(mixed).sum(1)
    weights = np.exp(log_evidence - log_evidence.max())
    each = weights @ (SHARES[:, None] * odds / mixed) / weights.sum()
    of_table = np.log(table_share / (1 - table_share)) + log_evidence.max() + np.log(weights.mean())
    return np.asarray(sigmoid(of_table) * each)


def judge_rims(
    asked: Sequence[int],
    look: Callable[[int], float | None],
    table_share: float,
    first_looks: int,
) -> dict[int, float]:
    """Return the probability that each of the `asked` rims of a table is a hexagon, by its number.

    `look` gives a rim's log odds, or None where no photo shows it. They come in the order of their size.
    `first_looks` of them, of all sizes, are looked at first, and the rest where there is hope.
    """
    every = max(1, -(-len(asked) // max(1, first_looks)))
    logits: dict[int, float] = {}
    probabilities = np.empty(0)
    for some in (asked[::every], asked):
        seen = {k: look(k) for k in some if k not in logits}
        logits |= {k: logit for k, logit in seen.items() if logit is not None}
        probabilities = hexagon_probabilities(np.array([*logits.values()]), table_share)
        if probabilities.max(initial=0.0) < LEAST_HOPE:
            break
    return dict(zip(logits, probabilities.tolist(), strict=True))
