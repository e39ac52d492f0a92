"""How likely each finding of a photo is a piece at all.

A finding's score says how much it looks like a base. Lookalikes (counters, lids, tower tops) can look
so, too. How many of them lie on a table differs: a table that was laid out for measuring has
hardly any, others have many. The scores of all findings show how many this photo has, by the
method of Saerens, Latinne and Decaestecker (2002). So a middling score counts for more on a clear
table than among other middling ones.
"""

from collections.abc import Sequence

import numpy as np

from overruler.detections import Detection
from overruler.geometry.pose import Array
from overruler.vision.learned.coefficients import load_coefficients
from overruler.vision.learned.logits import probability_to_logit, sigmoid

LIKELIHOOD_WEIGHTS = np.array(list(load_coefficients("piece_likelihood").values()))
"""Weights of the log likelihood ratio of base and lookalike, by the log odds of the score."""
MAX_SCORE_LOGIT = 9.0
"""Largest log odds of a score that is believed: one in eight thousand."""
USUAL_LOOKALIKE_SHARE = 0.003
"""Share of lookalikes among the findings of a usual photo: of 549 on 19 rendered tables one was none."""
UNPREPARED_LOOKALIKE_SHARE = 0.05
"""The same where no marker lies on the table: nobody prepared it for measuring, and counters and
lids lie about. On 17 rendered tables with lookalikes 50 of 965 findings are none."""
USUAL_FINDINGS = 30.0
"""How many findings of a usual photo count beside those of this one."""
SHARE_STEPS = 60
"""Steps in which the share of lookalikes settles."""


def piece_probabilities(
    detections: Sequence[Detection], usual_share: float = USUAL_LOOKALIKE_SHARE
) -> list[float]:
    """The probability that each finding of one photo is a piece; 1 where a person said so.

    `usual_share` is the share of lookalikes among the findings of such a photo.

    The score of a plate, another rectangle or an oval is such a probability already.
    """
    judged = [one for one in detections if not one.is_confirmed and one.base.shape == "circle"]
    scores = np.array([round_score(one) for one in judged])
    probabilities = probabilities_of_scores(scores, usual_share)
    found = dict(zip(map(id, judged), probabilities.tolist(), strict=True))
    return [_probability(one, found.get(id(one))) for one in detections]


def _probability(one: Detection, among_others: float | None) -> float:
    if among_others is None:
        return 1.0 if one.is_confirmed else one.score
    return among_others


def round_score(one: Detection) -> float:
    """The lower of the finder's score and of the one that was fitted on tables with clutter."""
    return one.score if one.clutter_score is None else min(one.score, one.clutter_score)


def probabilities_of_scores(scores: Array, usual_share: float = USUAL_LOOKALIKE_SHARE) -> Array:
    """(N,): the probability that each finding of one photo is a piece, by the scores (N,) of all."""
    ratio = score_features(scores) @ LIKELIHOOD_WEIGHTS
    share = usual_share
    for _ in range(SHARE_STEPS):
        lookalikes = (1 - sigmoid(ratio + _log_odds_of_base(share))).sum()
        seen = usual_share * USUAL_FINDINGS + float(lookalikes)
        share = seen / (USUAL_FINDINGS + len(scores))
    return sigmoid(ratio + _log_odds_of_base(share))


def score_features(scores: Array) -> Array:
    """(N, 2): a constant, and the log odds of each score."""
    return np.column_stack([np.ones(len(scores)), probability_to_logit(scores, MAX_SCORE_LOGIT)])


def _log_odds_of_base(lookalike_share: float) -> float:
    return float(np.log((1 - lookalike_share) / lookalike_share))
