"""How likely each finding of a photo is a piece at all.

A finding's score says how much it looks like a base. Lookalikes can look so, too. A table that was
laid out for measuring has hardly any, others have many (`rounds/lookalike_share.py`). Where the networks
for tables in play judged a finding, its probability in play counts (`rounds/fit_rounds.py`).
"""

from collections.abc import Sequence

import numpy as np

from overruler.detections import Detection
from overruler.geometry.pose import Array
from overruler.vision.detection.finders import are_ships
from overruler.vision.detection.sizes import is_plate
from overruler.vision.learned.coefficients import load_coefficients
from overruler.vision.learned.logits import probability_to_logit
from overruler.vision.rounds.lookalike_share import probabilities_among

LIKELIHOOD_WEIGHTS = np.array(list(load_coefficients("piece_likelihood").values()))
"""Weights of the log likelihood ratio of base and lookalike, by the log odds of the score."""
MAX_SCORE_LOGIT = 9.0
"""Largest log odds of a score that is believed: one in eight thousand."""
USUAL_LOOKALIKE_SHARE = 0.01
"""Share of lookalikes among the findings of a usual photo, a judgement: of 549 on 19 rendered tables one was none,
of 537 on 24 photos of mats with three printed planets each 15."""
LOOKALIKE_SHARE_AMONG_SHIPS = 0.5
"""The same of round findings among ships on square plates, a judgement: games of ships have hardly a
round base, and their mats have printed planets, which score as high."""
UNPREPARED_LOOKALIKE_SHARE = 0.05
"""The same where no marker lies on the table: nobody prepared it for measuring, and counters and
lids lie about. On 17 rendered tables with lookalikes 50 of 965 findings are none."""


def piece_probabilities(detections: Sequence[Detection], is_prepared: bool = True) -> list[float]:
    """The probability that each finding of one photo is a piece; 1 where a person said so.

    A prepared table has markers. The score of a plate, another rectangle or an oval is such a
    probability already.
    """
    judged = [one for one in detections if not one.is_confirmed and one.base.shape == "circle"]
    scores = np.array([likely_score(one) for one in judged])
    usual_share = _usual_lookalike_share(detections, is_prepared)
    probabilities = probabilities_among(score_features(scores) @ LIKELIHOOD_WEIGHTS, usual_share)
    found = dict(zip(map(id, judged), probabilities.tolist(), strict=True))
    told = {id(one): one.in_play_probability for one in judged}
    found |= {key: share for key, share in told.items() if share is not None}
    return [_probability(one, found.get(id(one))) for one in detections]


def _usual_lookalike_share(detections: Sequence[Detection], is_prepared: bool) -> float:
    if not is_prepared:
        return UNPREPARED_LOOKALIKE_SHARE
    plates = sum(is_plate(one.base) for one in detections)
    rounds = sum(one.base.shape == "circle" for one in detections)
    return LOOKALIKE_SHARE_AMONG_SHIPS if are_ships(plates, rounds) else USUAL_LOOKALIKE_SHARE


def _probability(one: Detection, among_others: float | None) -> float:
    if among_others is None:
        return 1.0 if one.is_confirmed else likely_score(one)
    return among_others


def likely_score(one: Detection) -> float:
    """The lower of the finder's score and of the one for tables with clutter."""
    return one.score if one.clutter_score is None else min(one.score, one.clutter_score)


def score_features(scores: Array) -> Array:
    """(N, 2): a constant, and the log odds of each score."""
    return np.column_stack([np.ones(len(scores)), probability_to_logit(scores, MAX_SCORE_LOGIT)])
