"""Which shape a base has, by all photos that see it.

A figure on a square hides its corners: from one side it looks round. The photos vote, each with the
log odds of what it saw.
"""

from overruler.vision.learned.logits import probability_to_logit
from overruler.vision.pairing.hypotheses import Hypothesis
from overruler.vision.pairing.sighting import Sighting

MAX_VOTE = 5.0
"""Largest log odds with which one photo votes: one that is deceived is sure, too."""


def settle_shape(one: Hypothesis) -> Hypothesis:
    """A base by those sightings alone that are of its likeliest shape."""
    votes: dict[str, float] = {}
    for sighting in one.sightings:
        shape, score = _shape_of(sighting), sighting.detection.score
        votes[shape] = votes.get(shape, 0.0) + float(probability_to_logit(score, MAX_VOTE))
    if len(votes) < 2:
        return one
    likeliest = max(votes, key=lambda shape: votes[shape])
    first, *rest = [each for each in one.sightings if _shape_of(each) == likeliest]
    settled = Hypothesis.of(first)
    for sighting in rest:
        settled = settled.joined_by(sighting)
    return settled


def _shape_of(sighting: Sighting) -> str:
    """Circle, rectangle, or a shape with round ends: from afar an oval looks like a stadium."""
    base = sighting.detection.base
    return "round ends" if base.has_round_ends else base.shape
