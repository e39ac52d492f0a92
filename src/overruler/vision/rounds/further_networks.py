"""What further networks make of guesses: on tables in play, and on mats that may be printed."""

from collections.abc import Sequence
from dataclasses import dataclass

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
    LOGIT_WEIGHTS_OF_TWO,
    LOGIT_WEIGHTS_ON_CLUTTER,
    MIN_SCORE,
    MIN_SCORE_IN_PLAY,
    base_probabilities,
    feature_table,
    near_company,
    weigh_features,
)
from overruler.vision.rounds.size_likelihood import SizeHypothesis

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


@dataclass(frozen=True, slots=True)
class RimScores:
    """What guessed rims (N) are taken for, each an array (N,) of probabilities."""

    base: Array
    """That a guess is a base."""
    least: float
    """The smallest probability of what is taken for a base."""
    on_clutter: Array | None = None
    """The same where much lies about that is no base; None if the overview was not asked."""
    in_play: Array | None = None
    """The same on a table in play; None on another table."""

    def likely(self) -> NDArray[np.intp]:
        """Return the indices of what is taken for a base."""
        return np.flatnonzero(self.base >= self.least)

    def __getitem__(self, which: list[int]) -> "RimScores":
        """Return the scores of some of the guesses."""
        base, *others = (
            None if shares is None else shares[which]
            for shares in (self.base, self.on_clutter, self.in_play)
        )
        assert base is not None
        return RimScores(base, self.least, *others)


def score_rims(
    frame: Frame,
    camera: Camera,
    guesses: RimEstimates,
    fits: Sequence[list[SizeHypothesis]],
    from_above: Array | None,
    is_in_play: bool,
    asked_sizes: Array | None,
    least: float = MIN_SCORE,
) -> RimScores:
    """Score guesses by their fits and by what the networks that the table calls for make of them.

    `from_above` (K, 4), if given, is the overview's x, y, radius and probability of K circles.
    `asked_sizes` (N, C, 2), log likelihoods of sizes and rim kinds, lets `print_net` look too.
    """
    scores = base_probabilities(guesses, fits, from_above)
    if from_above is None:
        return RimScores(scores, least)
    table = feature_table(guesses, fits, from_above)
    on_clutter = sigmoid(weigh_features(table, LOGIT_WEIGHTS_ON_CLUTTER))
    if is_in_play:
        shares = probabilities_in_play(frame, camera, guesses, table)
        return RimScores(shares, min(least, MIN_SCORE_IN_PLAY), on_clutter, shares)
    if asked_sizes is not None:
        asked = np.flatnonzero(scores >= MIN_ASKED_SCORE)
        seen = features_of_two(frame, camera, guesses, asked_sizes, asked)
        of_two = sigmoid(weigh_features(table, LOGIT_WEIGHTS_OF_TWO, seen))
        scores[asked] = np.minimum(scores, of_two)[asked]
    return RimScores(scores, least, on_clutter)


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
