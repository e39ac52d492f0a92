"""Fit how findings of one kind are re-weighed, and keep only what helps photos that were left out.

The log odds get an offset and a slope: logistic regression with a Gaussian prior at "as they are".
Each photo in turn is left out of the fit and judged by it. The fit is kept where the photos left out
become likelier, by `MIN_GAIN_ERRORS` standard errors of their mean gain.
"""

from collections.abc import Sequence

import numpy as np

from overruler.geometry.pose import Array
from overruler.taught import (
    MAX_OFFSET,
    SLOPES,
    CorrectedPhoto,
    JudgedFinding,
    Weighing,
    log_odds,
)

PRIOR = np.array([0.0, 1.0])
"""Prior mean of offset and slope: a probability is right as it is."""
PRIOR_SIGMA = np.array([1.0, 0.2])
"""Prior 1 σ of both. One finding moves the offset by 1 at most, its square: from 0.9 to 0.77."""
MIN_PHOTOS = 3
"""Least number of photos with findings of a kind: of two, either one would decide alone."""
MIN_GAIN_ERRORS = 2.0
"""Least mean gain of the photos left out, in its standard errors. Of 300 drawn kinds that need no
teaching 17 % are kept after three photos and 7 % after five; with 1 they are 26 % and 12 %."""
NEWTON_STEPS = 60
"""Steps of Newton's method."""
MAX_STEP = 0.3
"""Largest change of a weight in one step."""
DIGITS = 4
"""Digits of a weight."""

Findings = Sequence[JudgedFinding]


def learn_weighings(photos: Sequence[CorrectedPhoto]) -> dict[str, Weighing]:
    """The weighings of the kinds whose left-out photos gain."""
    learned = {}
    for kind in kinds_of(photos):
        by_photo = findings_by_photo(photos, kind)
        if len(by_photo) >= MIN_PHOTOS and is_gain(left_out_gains(by_photo)):
            learned[kind] = fit_weighing([one for findings in by_photo for one in findings])
    return learned


def kinds_of(photos: Sequence[CorrectedPhoto]) -> list[str]:
    """The kinds of all findings."""
    return sorted({one.kind for photo in photos for one in photo.findings})


def findings_by_photo(photos: Sequence[CorrectedPhoto], kind: str) -> list[Findings]:
    """The findings of a kind, of each photo that has any."""
    found = [[one for one in photo.findings if one.kind == kind] for photo in photos]
    return [findings for findings in found if findings]


def left_out_gains(by_photo: Sequence[Findings]) -> Array:
    """(N,): how much likelier each photo's truth becomes by a fit to the others, as a logarithm."""
    gains = []
    for k, left_out in enumerate(by_photo):
        others = [one for j, findings in enumerate(by_photo) if j != k for one in findings]
        after = log_likelihood(left_out, fit_weighing(others))
        gains.append(after - log_likelihood(left_out, Weighing()))
    return np.array(gains)


def is_gain(gains: Array) -> bool:
    """Whether the photos left out gain on the whole, by more than chance would have it."""
    standard_error = gains.std(ddof=1) / np.sqrt(len(gains))
    return bool(gains.mean() > MIN_GAIN_ERRORS * standard_error)


def fit_weighing(findings: Findings) -> Weighing:
    """The likeliest offset and slope, given the prior: there is one maximum."""
    features = np.array([[1.0, log_odds(one.probability)] for one in findings]).reshape(-1, 2)
    truth = np.array([one.is_piece for one in findings], float)
    weights, information = PRIOR, np.diag(PRIOR_SIGMA**-2)
    for _ in range(NEWTON_STEPS):
        said = 1 / (1 + np.exp(-features @ weights))
        gradient = features.T @ (truth - said) - information @ (weights - PRIOR)
        curvature = features.T @ (features * (said * (1 - said))[:, None]) + information
        step = np.linalg.solve(curvature, gradient)
        weights = weights + step * (MAX_STEP / max(np.abs(step).max(), MAX_STEP))
    offset, slope = weights.round(DIGITS).tolist()
    return Weighing(float(np.clip(offset, -MAX_OFFSET, MAX_OFFSET)), max(slope, SLOPES[0]))


def log_likelihood(findings: Findings, weighing: Weighing) -> float:
    """The logarithm of how likely the truth about some findings is."""
    logits = np.array([log_odds(weighing.reweigh(one.probability)) for one in findings])
    signs = np.array([1.0 if one.is_piece else -1.0 for one in findings])
    return float(-np.logaddexp(0, -signs * logits).sum())
