"""Two small networks that recognise round bases and locate their lower rims.

Each has about 100 000 weights. The patch network sees a candidate's surroundings from straight
above and predicts the probability of a base, and roughly where its rim lies. The ring network sees
the unrolled ring around that rim. It predicts the distance of the lower rim in each direction, and
the σ of that. A least-squares circle through these distances follows. `docs/rims.md` describes the
training.
"""

from dataclasses import dataclass, fields, replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.imaging.line_profiles import Floats
from overruler.vision.learned.coefficients import load_coefficients
from overruler.vision.learned.inference import WEIGHTS, run_in_batches
from overruler.vision.learned.logits import probability_to_logit, sigmoid
from overruler.vision.learned.patch_net import Look, augmented_logits, run_patch_network
from overruler.vision.learned.patches import (
    RING_ANGLE_COUNT,
    Picture,
    auxiliary_input,
    cut_rings,
    patch_axes_mm,
    photo_pyramid,
    ring_angles,
    ring_input,
)
from overruler.vision.learned.rivals_for_a_place import likeliest_of_each_place

RING_MODEL = WEIGHTS / "rings.onnx"
MIN_SECOND_LOOK_SCORE = 0.003
"""Candidates below this score are not scored a second time."""
MIN_TRACE_SCORE = 0.1
"""Candidates above this score get their rim traced."""
DUPLICATE_DISTANCE_RADII = 0.1
"""Estimates of one circle lie nearer to each other than this, in radii of the smaller one."""
DUPLICATE_LOG_RADIUS = 0.06
"""Estimates of one circle differ by less than this in the logarithm of their radii."""
REWEIGHTING_PASSES = 6
"""Iterations of the robust circle fit."""
_CAUCHY_SCALE_SIGMA = 2.5
"""Scale of the Cauchy weights, in σ: directions that miss the circle by more count less."""

_FITTED = load_coefficients("rims")
CENTRE_SIGMA_INFLATION = _FITTED["centre_sigma_inflation"]
"""Factor on the centre's σ, because the errors of neighbouring directions are not independent."""
RADIUS_SIGMA_INFLATION = _FITTED["radius_sigma_inflation"]
"""The same for the radius."""
TRACED_CENTRE_SIGMA_INFLATION = _FITTED["traced_centre_sigma_inflation"]
"""Further factor on a traced centre's σ."""
TRACED_RADIUS_SIGMA_INFLATION = _FITTED["traced_radius_sigma_inflation"]
"""Further factor on a traced radius' σ."""


@dataclass(frozen=True, slots=True, eq=False)
class RimEstimates:
    """The networks' estimates for N candidates."""

    score: Array
    """(N,): probability of a round base, 0 to 1."""
    xy_mm: Array
    """(N, 2): centre of the lower rim as it appears on the plane z = 0."""
    radius_mm: Array
    """(N,): its radius there.

    A rim at height z appears larger by D / (D - z), with D the camera's height.
    """
    sigma_xy_mm: Array
    """(N,): 1 σ of either coordinate."""
    sigma_radius_mm: Array
    """(N,): 1 σ of the radius."""
    visible: Array
    """(N,): visible share of the whole lower rim."""

    def __getitem__(self, which: slice | NDArray[np.bool_] | NDArray[np.intp]) -> "RimEstimates":
        return RimEstimates(*(getattr(self, field.name)[which] for field in fields(self)))


def estimate_rims(
    frame: Frame, camera: Camera, candidates: ArrayLike, look: Look | None = None
) -> RimEstimates:
    """Score candidates (N, 3) of x, y and radius in mm on the plane z = 0, and trace likely rims.

    A candidate may be off by a third of its radius in place and by a quarter in size. All are
    scored once. Those that are not hopeless are scored again where the first estimate points. Those
    that look like bases get their rim traced, twice. Of several estimates of one circle only the
    best continues; the others get the score 0. With another network's `look` that one judges from
    the second time on.
    """
    levels = photo_pyramid(frame)
    again = look or run_patch_network
    first = np.asarray(candidates, float).reshape(-1, 3)
    guesses = _score_candidates(levels, camera, first, run_patch_network)
    for step, least in (
        (partial(_score_again, look=again), MIN_SECOND_LOOK_SCORE),
        (_trace_rims, MIN_TRACE_SCORE),
        (_trace_rims, MIN_TRACE_SCORE),
        (partial(_average_augmented_scores, look=again), MIN_TRACE_SCORE),
    ):
        _suppress_duplicates(guesses, least)
        some = np.nonzero(guesses.score > least)[0]
        if not len(some):
            break
        _overwrite_rows(guesses, some, step(levels, camera, guesses[some]))
    return guesses


def _suppress_duplicates(guesses: RimEstimates, least: float) -> None:
    """Set the score of all but the best estimate of each circle to 0, among those above `least`."""
    likely = np.flatnonzero(guesses.score > least)
    circles, score = _to_circles(guesses[likely]), guesses.score[likely]
    are_duplicates = _are_duplicates(circles)
    best = likeliest_of_each_place(score, lambda k, others: are_duplicates[others, k])
    guesses.score[likely] = 0.0
    guesses.score[likely[best]] = score[best]


def _are_duplicates(circles: Array) -> NDArray[np.bool_]:
    """Tell which of the circles (N, 3) are the same (N, N)."""
    x, y, radii = circles.T
    apart = np.hypot(x[:, None] - x, y[:, None] - y)
    near = apart < DUPLICATE_DISTANCE_RADII * np.minimum(radii[:, None], radii)
    log_ratio = np.log(radii[:, None] / radii)
    return np.asarray(near & (np.abs(log_ratio) < DUPLICATE_LOG_RADIUS))


def _overwrite_rows(guesses: RimEstimates, some: NDArray[np.intp], better: RimEstimates) -> None:
    for field in fields(guesses):
        getattr(guesses, field.name)[some] = getattr(better, field.name)


def _to_circles(guesses: RimEstimates) -> Array:
    return np.column_stack([guesses.xy_mm, guesses.radius_mm])


# --- the patch network ---


def _score_again(
    levels: list[Picture], camera: Camera, guesses: RimEstimates, look: Look
) -> RimEstimates:
    return _score_candidates(levels, camera, _to_circles(guesses), look)


def _score_candidates(
    levels: list[Picture], camera: Camera, candidates: Array, look: Look
) -> RimEstimates:
    answer = look(levels, camera, candidates, None)
    radius = candidates[:, 2]
    found_radius = radius * np.exp(answer[:, 3])
    return RimEstimates(
        score=sigmoid(answer[:, 0]),
        xy_mm=candidates[:, :2] + offsets_on_board_mm(camera, candidates, answer[:, 1:3]),
        radius_mm=found_radius,
        sigma_xy_mm=radius * np.exp(answer[:, 4]),
        sigma_radius_mm=found_radius * np.exp(answer[:, 5]),
        visible=sigmoid(answer[:, 6]),
    )


def _average_augmented_scores(
    levels: list[Picture], camera: Camera, guesses: RimEstimates, look: Look
) -> RimEstimates:
    """Average the log odds of score and visible share over augmented views.

    A base looks like one in every view. Most other things do so in some views only.
    """
    first = probability_to_logit(np.stack([guesses.score, guesses.visible], -1))
    views = [first, *augmented_logits(levels, camera, _to_circles(guesses), look)]
    score, visible = sigmoid(np.mean(views, 0)).T
    return replace(guesses, score=score, visible=visible)


def offsets_on_board_mm(camera: Camera, shapes: Array, shift: Array) -> Array:
    """Convert offsets (N, 2) to the right and up, in radii, to offsets on the board (N, 2)."""
    return np.asarray(np.einsum("nk,nkd->nd", shift, patch_axes_mm(camera, shapes)))


# --- the ring network ---


def _trace_rims(levels: list[Picture], camera: Camera, guesses: RimEstimates) -> RimEstimates:
    """Fit a circle to the ring network's answer, with the previous estimate as its prior."""
    circles, radius = _to_circles(guesses), guesses.radius_mm
    reach, reach_sigma = predict_rim_radii(levels, camera, circles)
    sigma_mm = [guesses.sigma_xy_mm, guesses.sigma_xy_mm, guesses.sigma_radius_mm]
    prior = np.column_stack(sigma_mm) / radius[:, None]
    circle, sigma = fit_circles(reach, reach_sigma, np.maximum(2 * prior, 0.05))
    return RimEstimates(
        score=guesses.score,
        xy_mm=guesses.xy_mm + offsets_on_board_mm(camera, circles, circle[:, :2]),
        radius_mm=radius * circle[:, 2],
        sigma_xy_mm=radius * TRACED_CENTRE_SIGMA_INFLATION * sigma[:, 0],
        sigma_radius_mm=radius * TRACED_RADIUS_SIGMA_INFLATION * sigma[:, 1],
        visible=guesses.visible,
    )


def predict_rim_radii(levels: list[Picture], camera: Camera, shapes: Array) -> tuple[Array, Array]:
    """Predict the rim's distance (N, 48) from the centre of shapes, and its σ, in radii."""

    def blob(some: Array) -> Floats:
        return ring_input(cut_rings(levels, camera, some), auxiliary_input(camera, some))

    answer = run_in_batches(RING_MODEL, blob, shapes).reshape(-1, 2, RING_ANGLE_COUNT)
    offset, log_sigma = answer[:, 0], answer[:, 1]
    return 1 + offset, np.exp(log_sigma)


def fit_circles(reach: Array, sigma: Array, prior: Array) -> tuple[Array, Array]:
    """Fit circles (N, 3) of x, y and radius to rim distances `reach` (N, 48), in radii.

    Also returns the σ (N, 2) of centre and radius. `prior` (N, 3) is the σ about the unit circle.
    The fit is least squares with Cauchy weights.
    """
    angle = ring_angles()
    ones = np.ones(RING_ANGLE_COUNT)
    jacobian = np.stack([np.cos(angle), np.sin(angle), ones], -1)
    circle = np.tile([0.0, 0.0, 1.0], (len(reach), 1))
    inflation = np.array([CENTRE_SIGMA_INFLATION, CENTRE_SIGMA_INFLATION, RADIUS_SIGMA_INFLATION])
    prior_weight = (inflation / prior) ** 2
    information = np.zeros((len(reach), 3, 3))
    for _ in range(REWEIGHTING_PASSES):
        residual = reach - _circle_reach(circle, angle)
        cauchy = 1 + (residual / (_CAUCHY_SCALE_SIGMA * sigma)) ** 2
        weight = 1 / sigma**2 / cauchy
        seen = np.einsum("nk,ki,kj->nij", weight, jacobian, jacobian)
        information = seen + prior_weight[:, :, None] * np.eye(3)
        towards_prior = prior_weight * ([0, 0, 1] - circle)
        pull = np.einsum("nk,ki->ni", weight * residual, jacobian) + towards_prior
        step = np.linalg.solve(information, pull[..., None])
        circle = circle + step[..., 0]
    covariance = np.linalg.inv(information)
    variance = np.diagonal(covariance, axis1=1, axis2=2) * inflation**2
    centre, radius = variance[:, :2].mean(1), variance[:, 2]
    return circle, np.sqrt(np.stack([centre, radius], -1))


def _circle_reach(circle: Array, angle: Array) -> Array:
    """Return the distance (N, 48) from the origin to circles (N, 3) at each angle."""
    cosine, sine = np.cos(angle), np.sin(angle)
    x, y, radius = circle[:, :1], circle[:, 1:2], circle[:, 2:]
    along = x * cosine + y * sine
    across = x * sine - y * cosine
    square = np.maximum(radius**2 - across**2, 1e-6)
    return np.asarray(along + np.sqrt(square))
