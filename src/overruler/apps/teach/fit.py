"""Fit how the scores of one kind of finding are re-weighed, and keep only what helps left-out photos.

The log odds get an offset and a slope: logistic regression with a Gaussian prior at "as they are".
Each photo in turn is left out of the fit and judged by it. The fit is kept where that makes the
left-out photos likelier, by more than one standard error of their mean gain.
"""

from collections.abc import Sequence

import numpy as np

from overruler.geometry.pose import Array
from overruler.taught import KINDS, CorrectedPhoto, JudgedFinding, Weighing, log_odds

PRIOR = np.array([0.0, 1.0])
"""Prior mean of offset and slope: a score is right as it is."""
PRIOR_SIGMA = np.array([0.7, 0.2])
"""Prior 1 σ of both. One finding then moves the offset by at most 0.5, the square of its σ."""
MIN_PHOTOS = 3
"""Least number of photos with findings of a kind: of two, either one decides alone."""
NEWTON_STEPS = 60
"""Steps of Newton's method."""
MAX_STEP = 0.3
"""Largest change of offset or slope in one step."""
MIN_SLOPE = 0.1
"""Least slope: a higher score stays the likelier one."""


def learn_scores(photos: Sequence[CorrectedPhoto]) -> dict[str, Weighing]:
    """The weighings of the kinds whose left-out photos gain."""
    learned = {}
    for kind in KINDS:
        by_photo = findings_by_photo(photos, kind)
        if is_gain(left_out_gains(by_photo)):
            learned[kind] = fit_weighing([one for findings in by_photo for one in findings])
    return learned


def findings_by_photo(photos: Sequence[CorrectedPhoto], kind: str) -> list[list[JudgedFinding]]:
    """The findings of a kind, of each photo that has any."""
    found = [[one for one in photo.findings if one.kind == kind] for photo in photos]
    return [findings for findings in found if findings]


def left_out_gains(by_photo: Sequence[Sequence[JudgedFinding]]) -> Array:
    """(N,): how much likelier each photo's truth becomes by a fit to the others, as a logarithm."""
    gains = []
    for k, left_out in enumerate(by_photo):
        others = [one for j, findings in enumerate(by_photo) if j != k for one in findings]
        after = log_likelihood(left_out, fit_weighing(others))
        gains.append(after - log_likelihood(left_out, Weighing()))
    return np.array(gains)


def is_gain(gains: Array) -> bool:
    """Whether the left-out photos gain on the whole, by more than chance would have it."""
    if len(gains) < MIN_PHOTOS:
        return False
    standard_error = gains.std(ddof=1) / np.sqrt(len(gains))
    return bool(gains.mean() > standard_error)


def fit_weighing(findings: Sequence[JudgedFinding]) -> Weighing:
    """The likeliest offset and slope, given the prior: its posterior has one mode."""
    features = np.array([[1.0, log_odds(one.score)] for one in findings]).reshape(-1, 2)
    truth = np.array([one.is_piece for one in findings], float)
    weights, information = PRIOR.copy(), np.diag(PRIOR_SIGMA**-2)
    for _ in range(NEWTON_STEPS):
        said = 1 / (1 + np.exp(-features @ weights))
        gradient = features.T @ (truth - said) - information @ (weights - PRIOR)
        curvature = features.T @ (features * (said * (1 - said))[:, None]) + information
        step = np.linalg.solve(curvature, gradient)
        weights = weights + step * min(1.0, MAX_STEP / max(np.abs(step).max(), MAX_STEP))
    offset, slope = weights.tolist()
    return Weighing(round(offset, 4), round(max(slope, MIN_SLOPE), 4))


def log_likelihood(findings: Sequence[JudgedFinding], weighing: Weighing) -> float:
    """The logarithm of how likely the truth about some findings is."""
    logits = np.array([log_odds(weighing.reweigh(one.score)) for one in findings])
    signs = np.array([1.0 if one.is_piece else -1.0 for one in findings])
    return float(-np.logaddexp(0, -signs * logits).sum())
