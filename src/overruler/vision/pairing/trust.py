"""How far a photo may be trusted where it is unsure: other photos confirm its weak findings, or do not.

A score holds on usual tables. In a dark or blurred photo, or on odd ground, hundreds of spots look a
little like bases. Where other photos show such spots and find nothing there, the photo's other weak
findings are as doubtful.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from overruler.geometry.pose import Array
from overruler.vision.learned.logits import probability_to_logit, sigmoid
from overruler.vision.pairing.finding import Finding
from overruler.vision.pairing.sighting import SeenPhoto

UNSURE_SCORES = (0.05, 0.95)
"""Scores between which a photo is unsure of a base."""
CONFIRMING_SCORE = 0.3
"""Least score of a base in another photo that confirms it. In 29 photos of 12 rendered tables others
confirmed 141 of 147 such bases that the scores promise; in one more, 8 of 27."""
SEEN_SHARE = 0.85
"""Share of true bases that another photo shows: the others are hidden there, or missed."""
SIGMA_NATS = 0.5
"""Prior 1 σ of a photo's excess of log odds."""
MOST_NATS = 5.0
"""The most that is taken off a photo's log odds."""
HALVINGS = 20
"""Steps of the search for the excess."""


@dataclass(frozen=True, slots=True, eq=False)
class _Weak:
    """A finding of which a photo is unsure."""

    finding: Finding
    score: float
    is_confirmed: bool


@dataclass(frozen=True, slots=True, eq=False)
class Distrust:
    """How far photos are not to be trusted where they are unsure."""

    weak: Mapping[int, Sequence[_Weak]]
    """What each photo, by its index, is unsure of and another one shows."""

    @classmethod
    def of(cls, findings: Sequence[Finding], photos: Sequence[SeenPhoto]) -> "Distrust":
        return cls({photo.index: _weak_of(photo, findings, photos) for photo in photos})

    def nats_against(self, finding: Finding) -> float:
        """By how much the log odds of a finding are too high: 0 where two photos see a base.

        The other weak findings of its photo tell, but nothing of what the photo is sure of.
        """
        surest = finding.surest
        if surest.detection.score >= UNSURE_SCORES[1] or _is_confirmed(finding, surest.photo):
            return 0.0
        weak = self.weak[surest.photo.index]
        return _excess_nats([one for one in weak if one.finding is not finding])


def _weak_of(
    photo: SeenPhoto, findings: Sequence[Finding], photos: Sequence[SeenPhoto]
) -> list[_Weak]:
    weak = []
    for finding in findings:
        score = _own_score(finding, photo)
        if score is not None and any(o is not photo and o.shows(finding.xyz_mm) for o in photos):
            weak.append(_Weak(finding, score, _is_confirmed(finding, photo)))
    return weak


def _excess_nats(weak: Sequence[_Weak]) -> float:
    """The likeliest intercept of a logistic regression of what others confirm on a photo's scores.

    It is 0 where they confirm as much as the scores promise, or more.
    """
    confirmed = sum(one.is_confirmed for one in weak)
    logits = probability_to_logit(np.array([one.score for one in weak]), np.inf)
    low, high = 0.0, MOST_NATS
    if _slope(low, logits, confirmed) <= 0:
        return 0.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        is_below = _slope(middle, logits, confirmed) > 0
        low, high = (middle, high) if is_below else (low, middle)
    return (low + high) / 2


def _slope(nats: float, logits: Array, confirmed: int) -> float:
    """Derivative of the log posterior by the nats subtracted.

    A finding's term, by its probability p, leaves out the factor (1 - p) / (1 - `SEEN_SHARE` p),
    which is 1 for small p.
    """
    expected = SEEN_SHARE * float(sigmoid(logits - nats).sum())
    return expected - confirmed - nats / SIGMA_NATS**2


def _own_score(finding: Finding, photo: SeenPhoto) -> float | None:
    """The score of a finding in a photo that found it by itself and is unsure of it."""
    for one in finding.sightings:
        if one.photo is photo and not one.again:
            is_unsure = UNSURE_SCORES[0] <= one.detection.score < UNSURE_SCORES[1]
            return one.detection.score if is_unsure else None
    return None


def _is_confirmed(finding: Finding, photo: SeenPhoto) -> bool:
    others = [one for one in finding.sightings if one.photo is not photo]
    return any(one.detection.score >= CONFIRMING_SCORE for one in others)
