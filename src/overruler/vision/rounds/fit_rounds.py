"""From the learned look at round things to round bases: their sizes, weighed across the table, and a fit of each.

What is looked at by its upper rim (`round_sizes`) seems smaller than it is, as large as another size of the catalogue;
what else is on the table tells them apart.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from overruler.bases import DIAMETER_SET_PRIORS, ROUND_DIAMETERS_MM, Base
from overruler.calibration import Calibration
from overruler.detections import Detection
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.contours.cone_fit import BaseFit
from overruler.vision.contours.rare_events import (
    MIN_RIM_WEIGHT,
    NEGLIGIBLE_PROBABILITY,
    RARE_WITHIN_SIGMAS,
)
from overruler.vision.contours.reproject import reproject_outline
from overruler.vision.learned.ellipse_net import KNOWN_CIRCLE_PRIOR_SIGMA, trace_ovals_of_known_size
from overruler.vision.learned.logits import MAX_LOGIT, probability_to_logit, sigmoid
from overruler.vision.learned.patches import photo_pyramid
from overruler.vision.learned.rim_net import RimEstimates
from overruler.vision.rounds.mat_print import is_printed
from overruler.vision.rounds.remeasure import remeasure_base
from overruler.vision.rounds.size_likelihood import (
    MIN_FIT_PROBABILITY,
    SizeHypothesis,
    add_fit_likelihoods,
    fit_sizes,
    rim_net_log_likelihood,
)
from overruler.vision.rounds.size_mixture import SizeSetPrior, size_probabilities

MIN_NET_SCORE = 0.2
"""Candidates that the learned look scores lower are not fitted."""
MIN_SCORE = 2 / 3
"""Fitted candidates that score lower are no bases: a false base costs as much as two that are missed."""
LOGIT_WEIGHTS = np.array([-11.43, 1.17, 6.56, -2.06, 1.57, 0.72])
"""A base's log odds: a constant, plus so much for the learned look's log odds, for the share of its rims that the fit
saw, and for the logarithms of the look's doubt of the radius, as a share of it, of the contrast at the rim and of the
company: logistic regression on rendered tables."""
LOGIT_WEIGHTS_WITH_OVERVIEW = np.array([-6.20, 0.83, 5.30, -2.10, 1.00, 0.01, 1.34, -4.64])
"""The same, where it is known what the look from above says: it counts (as log odds), and so does the share of the rim
that is expected in sight: of what is half hidden less is asked. With all of these company says nothing more."""
MIN_OVERVIEW_PROBABILITY, MAX_OVERVIEW_PROBABILITY = 0.03, 0.98
"""What the look from above is taken to say where it says nothing, and at most."""
MATCH_DISTANCE_RADII, MATCH_LOG_RATIO = 0.6, 0.3
"""It speaks of the same base where its place is this near, in radii, and its radius (logarithm of the ratio)."""
SAME_SIZE_LOG_RATIO, SAME_SIZE_EXPECTED_SHARE = 0.06, 0.2
"""Things are of one size here whose radii are this near (logarithm of the ratio); one in so many is expected to be."""
MAX_OVERLAP_SHARE = 0.25
"""Two bases may seem to overlap by this share of the smaller one's diameter, not more."""
NET_SIGMA_INFLATION, NET_SIGMA_INFLATION_HIDDEN = 0.5, 1.5
"""The learned look's place is taken at so many of its stated σ, and so many more times the share of the rim that it
expects hidden: counted on renders."""
RETRACE_VISIBLE_SHARE, TRACE_SIGMA_INFLATION = 0.7, 3.0
"""Where the learned look expects less of the rim in sight, it is followed anew by its size; so many times larger than
stated are then its errors: counted on 370 such bases on rendered tables, of which one in a hundred was off by 2.4 mm
along an axis where the size was open, by 1.2 where it was known."""
MIN_REPORTED_PROBABILITY = 0.05
"""Sizes at least this probable are reported beside the likeliest."""
CONFIDENT_SCORE, MISFIT_SIGMA_MM, MAX_MISFIT_MM = 0.99, 0.4, 3.0
"""Of 2892 bases on 134 rendered tables none was off by more than 2.4 mm; of 61 that score less than the first one in
twenty was by 1.4, of the others by .64. These are measured once more, and stated wider along each axis: by the second
for what is usual, and so that the third lies within `RARE_WITHIN_SIGMAS` for what is rare."""


def suppress_overlaps(guesses: RimEstimates, radii: Array) -> list[int]:
    """The guesses to keep, best first: bases stand beside each other, never in each other."""
    kept: list[int] = []
    limits = radii[0] * 0.85, radii[-1] * 1.15
    for i in np.argsort(-guesses.score, kind="stable"):
        radius = guesses.radius_mm[i]
        if guesses.score[i] < MIN_NET_SCORE or not limits[0] < radius < limits[1]:
            continue
        apart = np.hypot(*(guesses.xy_mm[kept] - guesses.xy_mm[i]).T)
        others = guesses.radius_mm[kept]
        if np.all(apart > others + radius - MAX_OVERLAP_SHARE * 2 * np.minimum(others, radius)):
            kept.append(int(i))
    return kept


def fit_rounds(
    frame: Frame,
    calibration: Calibration,
    guesses: RimEstimates,
    radii: Array,
    least_score: float = MIN_SCORE,
    from_above: Array | None = None,
) -> tuple[Detection, ...]:
    """The bases among `guesses`, no two in the same place, with sizes out of `radii` (C,), the surest first.

    `from_above` (K, 4), where it is known: what the look from above takes for bases, x, y, radius and the likelihood.
    """
    if not len(guesses.score):
        return ()
    camera, played = calibration.camera, _size_set_priors(radii)
    looks = rim_net_log_likelihood(guesses, radii, camera)
    worth = size_probabilities(looks, played) > MIN_FIT_PROBABILITY
    fits = fit_sizes(
        frame, camera, guesses.xy_mm[:, None], _centre_sigma_mm(guesses)[:, None], worth, radii
    )
    company, contrast = same_size_ratio(guesses), relative_contrast(guesses, fits)
    known = (
        [None] * len(fits)
        if from_above is None
        else probability_from_above(guesses, from_above).tolist()
    )
    scores = np.array(
        [
            base_probability(guesses, i, tried, contrast[i], company[i], known[i])
            for i, tried in enumerate(fits)
        ]
    )
    likely = [k for k, tried in enumerate(fits) if tried and scores[k] >= least_score]
    found = [
        k
        for k in likely
        if not is_printed(frame.pixels, camera, guesses.xy_mm[k], float(guesses.radius_mm[k]))
    ]
    hidden = np.array([k for k in found if guesses.visible[k] < RETRACE_VISIBLE_SHARE], int)
    again = _fit_from_traced_rims(frame, camera, guesses[hidden], worth[hidden], radii)
    for k, tried in zip(hidden.tolist(), again, strict=True):
        fits[k] = tried or fits[k]
    shares = size_probabilities(add_fit_likelihoods(looks, fits)[found], played)
    looked = list(zip(guesses.radius_mm.tolist(), guesses.sigma_radius_mm.tolist(), strict=True))
    detections = [
        _make_detection(camera, fits[k], share, radii, float(scores[k]), looked[k])
        for k, share in zip(found, shares, strict=True)
    ]
    told = [
        one if one.score >= CONFIDENT_SCORE else _remeasure_uncertain(frame, calibration, one)
        for one in detections
    ]
    return tuple(sorted(told, key=lambda detection: -detection.score))


def _remeasure_uncertain(frame: Frame, calibration: Calibration, one: Detection) -> Detection:
    """A base that is not plain to see, measured once more and stated wider: its fit may have gone astray."""
    return add_misfit_covariance(remeasure_base(frame, calibration, one) or one)


def add_misfit_covariance(one: Detection) -> Detection:
    """A base that is not plain to see, with the doubt that its fit went astray; any other as it is."""
    if one.score >= CONFIDENT_SCORE:
        return one
    return one.with_added_covariance(
        np.eye(2) * MISFIT_SIGMA_MM**2, np.eye(2) * (MAX_MISFIT_MM / RARE_WITHIN_SIGMAS) ** 2
    )


def _size_set_priors(radii: Array) -> list[SizeSetPrior]:
    """Which of the radii (C,) are played together; nothing is known where somebody chose what to look for.

    Sizes that no catalogue has are somebody's own: they may meet any.
    """
    own = ~np.isin(2 * radii, ROUND_DIAMETERS_MM)
    sets = [
        (np.isin(2 * radii, sizes) | own, before) for sizes, before in DIAMETER_SET_PRIORS.items()
    ]
    return sets if covers_catalogue(radii) else []


def covers_catalogue(radii: Array) -> bool:
    """Whether all of the catalogue's sizes are among the radii (C,): nobody chose a game, or what to look for."""
    return set(ROUND_DIAMETERS_MM) <= set(2 * radii)


def _centre_sigma_mm(guesses: RimEstimates) -> Array:
    """1 σ of where the learned look places each guess (N,)."""
    return np.asarray(
        (NET_SIGMA_INFLATION + NET_SIGMA_INFLATION_HIDDEN * (1 - guesses.visible))
        * guesses.sigma_xy_mm
    )


def _fit_from_traced_rims(
    frame: Frame, camera: Camera, guesses: RimEstimates, worth: NDArray[np.bool_], radii: Array
) -> list[list[SizeHypothesis]]:
    """The sizes that are `worth` (N, C, 2) a fit, each from where the rim is followed as one of that size.

    Of what is half hidden a look that leaves the size open cannot tell a larger one nearby from a smaller one farther.
    """
    start, sigma = np.zeros((*worth.shape[:2], 2)), np.ones(worth.shape[:2])
    i, c = np.nonzero(worth.any(2))
    circles = np.column_stack([guesses.xy_mm[i], radii[c], radii[c], np.zeros(len(i))])
    traced, own = trace_ovals_of_known_size(
        photo_pyramid(frame), camera, circles, KNOWN_CIRCLE_PRIOR_SIGMA
    )
    start[i, c], sigma[i, c] = traced[:, :2], TRACE_SIGMA_INFLATION * own[:, 0]
    return fit_sizes(frame, camera, start, sigma, worth, radii)


def same_size_ratio(guesses: RimEstimates) -> Array:
    """How many others are of each one's size, against how many are expected to be (N,): 1 where it stands alone.

    Bases come in units, what only looks like one in any size. Each is counted by its score.
    """
    near = np.abs(np.log(guesses.radius_mm[:, None] / guesses.radius_mm)) < SAME_SIZE_LOG_RATIO
    alike, others = near @ guesses.score - guesses.score, guesses.score.sum() - guesses.score
    return np.asarray((1 + alike) / (1 + SAME_SIZE_EXPECTED_SHARE * others))


def relative_contrast(guesses: RimEstimates, fits: Sequence[list[SizeHypothesis]]) -> Array:
    """The contrast at each one's rim against what is usual on this table, in this light (N,)."""
    seen = np.log([1 + _best_fit(tried).contrast if tried else 1.0 for tried in fits])
    weight = guesses.score * [bool(tried) for tried in fits]
    return np.asarray(np.exp(seen - weight @ seen / max(weight.sum(), 1e-9)))


def _best_fit(tried: list[SizeHypothesis]) -> BaseFit:
    return max((one.fit for one in tried), key=lambda fit: fit.merit)


def probability_from_above(guesses: RimEstimates, from_above: Array) -> Array:
    """How likely the look from above (K, 4) takes each guess for a base (N,)."""
    apart = np.hypot(*(guesses.xy_mm[:, None] - from_above[:, :2]).transpose(2, 0, 1))
    same = (apart < MATCH_DISTANCE_RADII * guesses.radius_mm[:, None]) & (
        np.abs(np.log(from_above[:, 2] / guesses.radius_mm[:, None])) < MATCH_LOG_RATIO
    )
    return np.asarray(np.max(np.where(same, from_above[:, 3], 0.0), axis=1, initial=0.0))


def base_probability(
    guesses: RimEstimates,
    i: int,
    tried: list[SizeHypothesis],
    contrast: float = 1.0,
    company: float = 1.0,
    from_above: float | None = None,
) -> float:
    """How likely this is a base (0 to 1), by its contrast and its company against what is usual and expected.

    And by how likely the look from above takes it for one, where that is known.
    """
    if not tried:
        return 0.0
    doubt = float(guesses.sigma_radius_mm[i] / guesses.radius_mm[i])
    signs = [
        1.0,
        probability_to_logit(guesses.score[i], MAX_LOGIT),
        _best_fit(tried).merit,
        *np.log([doubt, contrast, company]),
    ]
    if from_above is None:
        return float(sigmoid(LOGIT_WEIGHTS @ signs))
    more = [
        probability_to_logit(
            np.clip(from_above, MIN_OVERVIEW_PROBABILITY, MAX_OVERVIEW_PROBABILITY), MAX_LOGIT
        ),
        float(guesses.visible[i]),
    ]
    return float(sigmoid(LOGIT_WEIGHTS_WITH_OVERVIEW @ [*signs, *more]))


def _make_detection(
    camera: Camera,
    tried: list[SizeHypothesis],
    share: Array,
    radii: Array,
    score: float,
    looks_mm: tuple[float, float],
) -> Detection:
    """A base of the likeliest size, seen the likeliest way; `share` (C, 2) says how likely each is."""
    sizes = share.sum(1)
    best = max(tried, key=lambda one: (sizes[one.size_index], share[one.size_index, one.rim_kind]))
    fit = best.fit
    found = Detection(
        base=Base.circle(float(2 * radii[best.size_index])),
        xy_mm=fit.xy_mm,
        z_mm=0.0,
        heading_deg=0.0,
        covariance_mm2=fit.covariance_mm2,
        d_xy_d_camera=fit.d_xy_d_camera,
        score=score,
        visible=float(np.mean(fit.seen > MIN_RIM_WEIGHT)),
        alternative_bases=other_likely_bases(sizes, best.size_index, radii),
        learned_radius_mm=looks_mm,
    )
    return reproject_outline(
        camera, found.with_added_covariance(*_size_covariances(best, tried, share, radii))
    )


def other_likely_bases(shares: Array, best: int, radii: Array) -> tuple[Base, ...]:
    """The sizes (C,) beside the best that are reported too, `shares` (C,) saying how likely each is."""
    return tuple(
        Base.circle(float(2 * radii[c]))
        for c in np.flatnonzero(shares > MIN_REPORTED_PROBABILITY)
        if c != best
    )


def _size_covariances(
    best: SizeHypothesis, tried: list[SizeHypothesis], share: Array, radii: Array
) -> tuple[Array, Array]:
    """What other sizes and ways add to the doubt (2, 2): their edge lies elsewhere, and so may their centre.

    As likely as they are, and so that none of them lies beyond `RARE_WITHIN_SIGMAS`.
    """
    usual, rare = np.zeros((2, 2)), np.zeros((2, 2))
    for other in tried:
        chance = float(share[other.size_index, other.rim_kind])
        if other is best or chance < NEGLIGIBLE_PROBABILITY:
            continue
        apart = other.fit.xy_mm - best.fit.xy_mm
        edge = radii[other.size_index] - radii[best.size_index]
        away = np.outer(apart, apart) + np.eye(2) * edge**2
        usual += chance * away
        rare += max(chance, RARE_WITHIN_SIGMAS**-2) * away
    return usual, rare
