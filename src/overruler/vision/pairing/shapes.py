"""Which shape a base has, by all photos that see it.

A figure on a square hides its corners: from one side it looks round. The photos vote, each with the
log odds of what it saw.
"""

from collections.abc import Iterable, Sequence

from overruler.vision.learned.logits import probability_to_logit
from overruler.vision.pairing.hypotheses import Hypothesis
from overruler.vision.pairing.sighting import Sighting

MAX_VOTE = 5.0
"""Largest log odds with which one photo votes: one that is deceived is sure, too."""


def settle_shapes(bases: Iterable[Hypothesis]) -> list[Hypothesis]:
    """The bases, each by those sightings alone that are of its likeliest shape.

    Where some photo took it for a rectangle, that is a base of its own: its sides will tell.
    """
    settled = []
    for base in bases:
        votes = _votes(base.sightings)
        likeliest = max(votes, key=lambda shape: votes[shape])
        settled += [_by(base, shape) for shape in votes if shape in (likeliest, "rectangle")]
    return settled


def _votes(sightings: Sequence[Sighting]) -> dict[str, float]:
    """The log odds of all photos that name a shape."""
    votes: dict[str, float] = {}
    for one in sightings:
        odds = float(probability_to_logit(one.detection.score, MAX_VOTE))
        votes[_shape_of(one)] = votes.get(_shape_of(one), 0.0) + odds
    return votes


def _by(base: Hypothesis, shape: str) -> Hypothesis:
    """A base by the sightings of one shape; what took it for another still tells its height."""
    kept = [one for one in base.sightings if _shape_of(one) == shape]
    if len(kept) == len(base.sightings):
        return base
    if base.is_raised:
        return Hypothesis(tuple(kept), base.modes)
    first, *rest = kept
    settled = Hypothesis.of(first)
    for one in rest:
        settled = settled.joined_by(one)
    return settled


def _shape_of(sighting: Sighting) -> str:
    """Circle, rectangle, or a shape with round ends: from afar an oval looks like a stadium."""
    base = sighting.detection.base
    return "round ends" if base.has_round_ends else base.shape
