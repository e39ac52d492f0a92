"""Rectangles that nobody named: are they bases, or cards and printed squares?

Both have corners and straight sides, so what finds plates hardly tells one from the other. A base has a
side, a shadow and most often a figure: a network of its own looks for those. The score of other
rectangles hears that network, too (`plates/regiments`), but not how seldom they stand among round bases.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from overruler.detections import Detection
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.learned.coefficients import load_coefficients
from overruler.vision.learned.patches import photo_pyramid
from overruler.vision.learned.print_net import CORNERED_MODEL, rectangle_circles, unprinted_logits
from overruler.vision.rounds.lookalike_share import probabilities_among

LOGIT_WEIGHTS = np.array(list(load_coefficients("card_score").values()))
"""Weights of the log-likelihood ratio of base and card, by a constant and the network's log odds."""
CARD_SHARE = 0.002
"""Share of cards among the rectangles of a usual photo, a judgement: hardly any lies among ships or regiments. A ship
that hides all of its plate looks a little like a picture of one, so a larger share would make such ships unsure."""
CARD_SHARE_AMONG_ROUNDS = 0.5
"""The same where round bases outnumber rectangles, a judgement: a game on round bases has hardly one with corners."""
MIN_SCORE = 0.5
"""Least probability of a base."""


def without_cards(
    frame: Frame, camera: Camera, detections: Sequence[Detection]
) -> tuple[Detection, ...]:
    """Return detections without likely cards; rectangles that stay count for no more than the network says.

    In rank and file all are bases: cards do not lie side by side.
    """
    rectangles = [one for one in detections if one.base.shape == "rectangle"]
    if not rectangles:
        return tuple(detections)
    among_rounds = 2 * len(rectangles) < len(detections)
    share = CARD_SHARE_AMONG_ROUNDS if among_rounds else CARD_SHARE
    alone = _without_units(rectangles)
    ratios = card_features(frame, camera, alone) @ LOGIT_WEIGHTS
    scores = probabilities_among(ratios, share).tolist()
    judged = dict(zip(map(id, alone), scores, strict=True))
    kept = [one for one in detections if judged.get(id(one), 1.0) >= MIN_SCORE]
    return tuple(
        replace(one, clutter_score=judged[id(one)]) if id(one) in judged else one for one in kept
    )


def _without_units(rectangles: Sequence[Detection]) -> list[Detection]:
    from overruler.vision.plates.neighbours import in_units  # few tables have any
    from overruler.vision.plates.regiments import places_of_detections

    ranked = in_units(places_of_detections(rectangles)).tolist()
    return [one for one, is_ranked in zip(rectangles, ranked, strict=True) if not is_ranked]


def card_features(frame: Frame, camera: Camera, rectangles: Sequence[Detection]) -> Array:
    """Return (N, 2): a constant, and the network's log odds of each rectangle."""
    from overruler.vision.plates.regiments import places_of_detections  # few tables have any

    places = places_of_detections(rectangles)
    circles = rectangle_circles(places.xy_mm, places.size_mm)
    logits = unprinted_logits(photo_pyramid(frame), camera, circles, CORNERED_MODEL)
    return np.column_stack([np.ones(len(logits)), logits])
