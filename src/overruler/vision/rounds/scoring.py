"""The probability that a fitted guess is a round base: logistic regression on a few features."""

from collections.abc import Sequence

import numpy as np

from overruler.geometry.pose import Array
from overruler.vision.contours.cone_fit import BaseFit
from overruler.vision.learned.coefficients import load_coefficients
from overruler.vision.learned.logits import MAX_LOGIT, probability_to_logit, sigmoid
from overruler.vision.learned.rim_net import RimEstimates
from overruler.vision.rounds.size_likelihood import SizeHypothesis

MIN_SCORE = 2 / 3
"""Smallest score of a base: a false base costs as much as two missed ones."""
MIN_SCORE_IN_PLAY = 0.5
"""Smallest probability of a base on a table in play."""
LOGIT_WEIGHTS = np.array(list(load_coefficients("round_score").values()))
"""Weights of a base's log odds: constant, network log odds, share of its rims that the fit saw, and
logarithms of the network's relative radius σ, of the contrast and of the same-size ratio."""
LOGIT_WEIGHTS_WITH_OVERVIEW = np.array(
    list(load_coefficients("round_score_with_overview").values())
)
"""Weights where the overview network was asked: as above, then its log odds and the expected
visible share of the rim. A half hidden rim needs less evidence. The same-size ratio then adds
nothing."""
LOGIT_WEIGHTS_ON_CLUTTER = np.array(list(load_coefficients("round_score_on_clutter").values()))
"""The same features' weights where much lies about that is no base. They find no more bases, but tell
better what is one."""
LOGIT_WEIGHTS_IN_PLAY = np.array(list(load_coefficients("round_score_in_play").values()))
"""The same features' weights on tables in play, where `in_play_net` gives the network's log odds; then
those of the log odds by `print_net`, and of the company that is near. They say nothing of how many
guesses are bases."""
LOGIT_WEIGHTS_OF_TWO = np.array(list(load_coefficients("round_score_of_two").values()))
"""The same features' weights where `print_net` looks at the guess too: then that network's log odds,
and the log likelihood of the nearest size."""
MIN_OVERVIEW_PROBABILITY = 0.03
"""Overview probability of a place at which the overview network reports nothing."""
MAX_OVERVIEW_PROBABILITY = 0.98
"""Largest overview probability taken into account."""
MATCH_DISTANCE_RADII = 0.6
"""Largest distance, in radii, between a guess and an overview circle of the same base."""
MATCH_LOG_RATIO = 0.3
"""Largest logarithm of the ratio of their radii."""
SAME_SIZE_LOG_RATIO = 0.06
"""Logarithm of the ratio of two radii below which guesses are of one size."""
NEAR_RADII = 5.0
"""Others of a unit lie within so many radii."""
SIZE_SPREAD = 0.05
"""1 σ of the logarithm of the ratio of two radii of one size, as a figure and the light mislead the network."""
SAME_SIZE_EXPECTED_SHARE = 0.2
"""Share of the other guesses expected to be of a guess's size."""


def base_probabilities(
    guesses: RimEstimates,
    fits: Sequence[list[SizeHypothesis]],
    from_above: Array | None,
) -> Array:
    """Return the probability (N,) that each guess is a base, from its fits by size.

    `from_above` (K, 4), if given, is the overview's x, y, radius and probability of K circles.
    """
    rows = _compare_guesses(guesses, fits, from_above)
    return np.array([base_probability(guesses, i, *row) for i, row in enumerate(rows)])


def weigh_features(table: Array, weights: Array, more: Array | None = None) -> Array:
    """Return the log odds (N,) that each guess is a base, by other weights; -inf without a fit.

    `table` (N, 8) is `feature_table`'s. `more` (N, K), if given, are further features.
    """
    features = table if more is None else np.column_stack([table, more])
    logits = features @ weights
    return np.where(np.isnan(logits), -np.inf, logits)


def feature_table(
    guesses: RimEstimates, fits: Sequence[list[SizeHypothesis]], from_above: Array
) -> Array:
    """Return what each guess's score is weighed from (N, 8), as `score_features`; NaN without a fit."""
    table = np.full((len(fits), len(LOGIT_WEIGHTS_WITH_OVERVIEW)), np.nan)
    for i, row in enumerate(_compare_guesses(guesses, fits, from_above)):
        tried, contrast, ratio, above = row
        if tried:
            table[i] = score_features(guesses, i, tried, contrast, ratio, above)
    return table


def _compare_guesses(
    guesses: RimEstimates, fits: Sequence[list[SizeHypothesis]], from_above: Array | None
) -> list[tuple[list[SizeHypothesis], float, float, float | None]]:
    """Return each guess's fits, relative contrast, same-size ratio and overview probability."""
    contrasts = relative_contrast(guesses, fits)
    ratios = same_size_ratio(guesses)
    overview: Sequence[float | None] = [None] * len(fits)
    if from_above is not None:
        overview = probability_from_above(guesses, from_above).tolist()
    return list(zip(fits, contrasts.tolist(), ratios.tolist(), overview, strict=True))


def same_size_ratio(guesses: RimEstimates) -> Array:
    """Return the ratio (N,) of the others of each guess's size to the number expected.

    Bases come in units, lookalikes in any size. Guesses count by their score; a lone one has 1.
    """
    log_ratios = np.log(guesses.radius_mm[:, None] / guesses.radius_mm)
    is_same_size = np.abs(log_ratios) < SAME_SIZE_LOG_RATIO
    same_size = is_same_size @ guesses.score - guesses.score
    others = guesses.score.sum() - guesses.score
    return company_ratio(same_size, others)


def company_ratio(same_size: Array, others: Array) -> Array:
    """Return how many more others (N,) of one's size there are than expected, both counted by score."""
    return np.asarray((1 + same_size) / (1 + SAME_SIZE_EXPECTED_SHARE * others))


def near_company(guesses: RimEstimates) -> Array:
    """Return how many others (N,) of each guess's size are near, counted by their score.

    Units stand together. A counter or a lid may be as large as bases elsewhere on the table.
    """
    log_ratios = np.log(guesses.radius_mm[:, None] / guesses.radius_mm)
    alike = np.exp(-0.5 * (log_ratios / SIZE_SPREAD) ** 2)
    apart = np.hypot(*(guesses.xy_mm[:, None] - guesses.xy_mm).transpose(2, 0, 1))
    is_near = apart < NEAR_RADII * guesses.radius_mm[:, None]
    np.fill_diagonal(is_near, False)
    return np.asarray((alike * is_near) @ guesses.score)


def relative_contrast(guesses: RimEstimates, fits: Sequence[list[SizeHypothesis]]) -> Array:
    """Return the contrast (N,) at each rim relative to the table's usual contrast in this light."""
    contrasts = [1 + _best_fit(tried).contrast if tried else 1.0 for tried in fits]
    log_contrasts = np.log(contrasts)
    weight = guesses.score * [bool(tried) for tried in fits]
    usual = weight @ log_contrasts / max(weight.sum(), 1e-9)
    return np.asarray(np.exp(log_contrasts - usual))


def _best_fit(tried: list[SizeHypothesis]) -> BaseFit:
    return max((hypothesis.fit for hypothesis in tried), key=lambda fit: fit.merit)


def probability_from_above(guesses: RimEstimates, from_above: Array) -> Array:
    """Return the overview's probability (N,) that each guess is a base; `from_above` is (K, 4)."""
    offsets = guesses.xy_mm[:, None] - from_above[:, :2]
    distances = np.hypot(*offsets.transpose(2, 0, 1))
    log_ratios = np.log(from_above[:, 2] / guesses.radius_mm[:, None])
    is_near = distances < MATCH_DISTANCE_RADII * guesses.radius_mm[:, None]
    is_same = is_near & (np.abs(log_ratios) < MATCH_LOG_RATIO)
    probabilities = np.where(is_same, from_above[:, 3], 0.0)
    return np.asarray(np.max(probabilities, axis=1, initial=0.0))


def base_probability(
    guesses: RimEstimates,
    i: int,
    tried: list[SizeHypothesis],
    contrast: float = 1.0,
    size_ratio: float = 1.0,
    from_above: float | None = None,
) -> float:
    """Return the probability that guess `i` is a base, 0 where no size could be fitted.

    `contrast` and `size_ratio` are its relative contrast and same-size ratio. `from_above` is the
    overview's probability, if known.
    """
    if not tried:
        return 0.0
    features = score_features(guesses, i, tried, contrast, size_ratio, from_above)
    weights = LOGIT_WEIGHTS if from_above is None else LOGIT_WEIGHTS_WITH_OVERVIEW
    return float(sigmoid(weights @ features))


def score_features(
    guesses: RimEstimates,
    i: int,
    tried: list[SizeHypothesis],
    contrast: float,
    size_ratio: float,
    from_above: float | None,
) -> list[float]:
    """Return what the score of guess `i` is weighed from, in the order of the weights."""
    relative_sigma = float(guesses.sigma_radius_mm[i] / guesses.radius_mm[i])
    network_logit = probability_to_logit(guesses.score[i], MAX_LOGIT)
    logs = np.log([relative_sigma, contrast, size_ratio])
    features = [1.0, network_logit, _best_fit(tried).merit, *logs]
    if from_above is None:
        return features
    clipped = np.clip(from_above, MIN_OVERVIEW_PROBABILITY, MAX_OVERVIEW_PROBABILITY)
    overview_logit = probability_to_logit(clipped, MAX_LOGIT)
    return [*features, overview_logit, float(guesses.visible[i])]
