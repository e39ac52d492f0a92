"""What further networks make of guesses: on tables in play, and on mats that may be printed."""

import numpy as np
from numpy.typing import NDArray

from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.learned.logits import MAX_LOGIT, probability_to_logit, sigmoid
from overruler.vision.learned.patches import photo_pyramid
from overruler.vision.learned.print_net import unprinted_logits
from overruler.vision.learned.rim_net import RimEstimates
from overruler.vision.rounds.lookalike_share import probabilities_among
from overruler.vision.rounds.scoring import (
    LOGIT_WEIGHTS_IN_PLAY,
    near_company,
    weigh_features,
)

MIN_ASKED_SCORE = 0.1
"""Smallest score of a guess at which the network that knows prints looks too."""
MIN_SIZE_LIKELIHOOD = -2.0
"""Smallest log likelihood of a size that counts: a base on a hill looks larger than any is, by any share."""
USUAL_LOOKALIKE_SHARE = 0.3
"""Share of lookalikes among the guesses of a usual photo."""
PROVEN_LOGIT = float(np.log(9))
"""Log odds up to which probabilities in play are right on photographs as on painted tables."""
TRUST_BEYOND_PROVEN = 0.6
"""How much of what is beyond counts. Campfires, trees and goals stand on the same bases as pieces, and
painted tables have few: of 114 findings on photographs that would have 0.99 to 0.9975, 4 were none; of
86 with more none was."""


def probabilities_in_play(
    frame: Frame, camera: Camera, guesses: RimEstimates, table: Array
) -> Array:
    """Return the probability (N,) that each guess is a base, if this is a table in play.

    `table` (N, 8) is `feature_table`'s.
    """
    more = features_in_play(frame, camera, guesses)
    odds = weigh_features(table, LOGIT_WEIGHTS_IN_PLAY, more)
    return temper_surest(probabilities_among(odds, USUAL_LOOKALIKE_SHARE))


def features_in_play(frame: Frame, camera: Camera, guesses: RimEstimates) -> Array:
    """Return (N, 2): the log odds of guesses by `print_net`, and the logarithm of one more than their company."""
    logits = _unprinted_logits(frame, camera, guesses)
    return np.column_stack([logits, np.log1p(near_company(guesses))])


def temper_surest(probabilities: Array) -> Array:
    """Return probabilities (N,) whose log odds beyond `PROVEN_LOGIT` count less."""
    logits = probability_to_logit(probabilities, MAX_LOGIT)
    beyond = np.maximum(logits - PROVEN_LOGIT, 0)
    return sigmoid(logits - (1 - TRUST_BEYOND_PROVEN) * beyond)


def features_of_two(
    frame: Frame,
    camera: Camera,
    guesses: RimEstimates,
    size_likelihoods: Array,
    asked: NDArray[np.intp],
) -> Array:
    """Return (N, 2): the log odds of the `asked` guesses by `print_net`, and those of the nearest size.

    `size_likelihoods` (N, C, 2) are log likelihoods of sizes and rim kinds.
    """
    features = np.zeros((len(guesses.score), 2))
    features[asked, 0] = _unprinted_logits(frame, camera, guesses[asked])
    features[:, 1] = np.maximum(size_likelihoods.max((1, 2)), MIN_SIZE_LIKELIHOOD)
    return features


def _unprinted_logits(frame: Frame, camera: Camera, guesses: RimEstimates) -> Array:
    circles = np.column_stack([guesses.xy_mm, guesses.radius_mm])
    return unprinted_logits(photo_pyramid(frame), camera, circles)
