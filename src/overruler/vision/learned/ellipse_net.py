"""The rim networks applied to ovals: the board is stretched until an oval is a circle.

An oval is a row (5,) of x, y, half length and half width in mm on the plane z = 0, and heading in
rad.
"""

from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.learned.coefficients import load_coefficients
from overruler.vision.learned.logits import sigmoid
from overruler.vision.learned.patch_net import augmented_logits, run_patch_network
from overruler.vision.learned.patches import (
    CROSS_OFFSETS,
    RING_ANGLE_COUNT,
    Picture,
    equal_area_radius_mm,
    patch_axes_mm,
    ring_angles,
)
from overruler.vision.learned.rim_net import (
    offsets_on_board_mm,
    predict_rim_radii,
)

FREE_PRIOR_SIGMA = np.array([0.15, 0.15, 0.1, 0.12, 0.12])
"""Prior σ of `EllipseDeviations` for an oval of unknown size, in radii."""
KNOWN_SIZE_PRIOR_SIGMA = np.array([0.15, 0.15, 0.01, 0.01, 0.12])
"""The same for an oval of known size."""
KNOWN_CIRCLE_PRIOR_SIGMA = np.array([0.15, 0.15, 0.01, 0.01, 0.01])
"""The same for a circle of known size."""
START_OFFSET_RADII = 0.12
"""Distance of the further starts of an oval of known size, in radii.

Where it is half hidden or beside a shadow, the rim nearest to the first start may be the wrong one.
"""
TRACES_PER_START = 2
"""Times that the rim is traced from each start, before the last trace from the best one."""
MAX_SQUARED_RESIDUAL = 9.0
"""Upper limit of a direction's squared residual in the likelihood of a rim, in σ²."""
CAUCHY_SCALE_SIGMA = 2.5
"""Scale of the Cauchy weights, in σ: directions that miss the oval by more count less."""
REWEIGHTING_PASSES = 6
"""Iterations of the robust ellipse fit."""
SIGMA_INFLATION = load_coefficients("rims")["oval_sigma_inflation"]
"""Factor on all σ, because the errors of neighbouring directions are not independent."""


class ScoredOvals(NamedTuple):
    """The patch network's answer for N ovals."""

    score: Array
    """(N,): probability, 0 to 1."""
    ovals: Array
    """(N, 5): the ovals moved to their predicted place and size."""


@dataclass(frozen=True, slots=True, eq=False)
class TracedOvals:
    """N ovals with traced rims."""

    score: Array
    """(N,): probability, 0 to 1."""
    ovals: Array
    """(N, 5)."""
    sigma: Array
    """(N, 5): 1 σ of each number."""
    from_above: Array
    """(N,): probability of an oval by the whole-table network."""

    def __getitem__(self, which: NDArray[np.bool_] | NDArray[np.intp]) -> "TracedOvals":
        return TracedOvals(*(getattr(self, field.name)[which] for field in fields(self)))


@dataclass(frozen=True, slots=True, eq=False)
class EllipseDeviations:
    """Fitted deviations of N ellipses from the unit circle: x, y, size s, and shape p and q."""

    deviation: Array
    """(N, 5), in radii."""
    covariance: Array
    """(N, 5, 5)."""


def score_ovals(levels: list[Picture], camera: Camera, ovals: Array) -> ScoredOvals:
    """Score ovals (N, 5) and correct their place and size; heading and proportions stay."""
    answer = run_patch_network(levels, camera, ovals, None)
    moved = ovals.copy()
    shift, log_ratio = answer[:, 1:3], answer[:, 3:4]
    moved[:, :2] += offsets_on_board_mm(camera, ovals, shift)
    moved[:, 2:4] *= np.exp(log_ratio)
    return ScoredOvals(sigmoid(answer[:, 0]), moved)


def average_augmented_scores(levels: list[Picture], camera: Camera, ovals: Array) -> Array:
    """Return the scores (N,) whose log odds are the mean over the augmented views."""
    return sigmoid(np.mean(augmented_logits(levels, camera, ovals, run_patch_network), 0)[:, 0])


def trace_ovals(levels: list[Picture], camera: Camera, ovals: Array) -> tuple[Array, Array]:
    """Fit ovals (N, 5) to the rims that the ring network sees; also the σ (N, 5) of each number."""
    if not len(ovals):
        return ovals, ovals
    fitted = fit_ellipses(*predict_rim_radii(levels, camera, ovals))
    return deviations_to_ovals(camera, ovals, fitted)


def trace_ovals_of_known_size(
    levels: list[Picture], camera: Camera, ovals: Array, spread: Array = KNOWN_SIZE_PRIOR_SIGMA
) -> tuple[Array, Array]:
    """Move ovals (N, 5) of known size to where the ring network follows their rims best.

    Also returns the σ (N, 5) of their numbers. The traces start at each oval and a little beside
    it. The best one has the least misfit, by the network's own σ. `spread` (5,) is the prior σ.
    """
    if not len(ovals):
        return ovals, ovals
    axes = patch_axes_mm(camera, ovals)
    starts = np.tile(ovals, (len(CROSS_OFFSETS), 1, 1))
    starts[..., :2] += START_OFFSET_RADII * np.einsum("bk,nkd->bnd", CROSS_OFFSETS, axes)
    traced = starts.reshape(-1, 5)
    for _ in range(TRACES_PER_START):
        traced, _, misfit = _trace_keeping_size(levels, camera, traced, spread)
    best = np.argmin(misfit.reshape(len(CROSS_OFFSETS), -1), axis=0)
    by_start = traced.reshape(starts.shape)
    chosen = by_start[best, np.arange(len(ovals))]
    found, sigma, _ = _trace_keeping_size(levels, camera, chosen, spread)
    return found, sigma


def _trace_keeping_size(
    levels: list[Picture], camera: Camera, ovals: Array, spread: Array
) -> tuple[Array, Array, Array]:
    """Trace the rims of ovals (N, 5), size kept; also σ (N, 5) and -log likelihood (N,)."""
    reach, reach_sigma = predict_rim_radii(levels, camera, ovals)
    fitted = fit_ellipses(reach, reach_sigma, spread)
    predicted = fitted.deviation @ deviation_jacobian().T
    squared = ((reach - 1 - predicted) / reach_sigma) ** 2
    limited = np.minimum(squared, MAX_SQUARED_RESIDUAL)
    misfit = np.sum(limited / 2 + np.log(reach_sigma), 1)
    found, sigma = deviations_to_ovals(camera, ovals, fitted)
    found[:, 2:4] = ovals[:, 2:4]
    return found, sigma, misfit


def deviation_jacobian() -> Array:
    """Return the derivatives (48, 5) of an ellipse's distance from the origin by its deviations.

    At the angle t the distance is 1 + x cos t + y sin t + s + p cos 2t + q sin 2t, to first order.
    """
    angle = ring_angles()
    place = [np.cos(angle), np.sin(angle)]
    shape = [np.cos(2 * angle), np.sin(2 * angle)]
    return np.stack([*place, np.ones(RING_ANGLE_COUNT), *shape], -1)


def fit_ellipses(reach: Array, sigma: Array, spread: Array = FREE_PRIOR_SIGMA) -> EllipseDeviations:
    """Fit ellipses near the unit circle to rim distances `reach` (N, 48), in radii.

    The fit is least squares with Cauchy weights. `spread` (5,) is the prior σ of the deviations.
    """
    jacobian = deviation_jacobian()
    prior = np.diag((SIGMA_INFLATION / spread) ** 2)
    deviation = np.zeros((len(reach), 5))
    information = np.tile(prior, (len(reach), 1, 1))
    for _ in range(REWEIGHTING_PASSES):
        residual = reach - 1 - deviation @ jacobian.T
        cauchy = 1 + (residual / (CAUCHY_SCALE_SIGMA * sigma)) ** 2
        weight = 1 / sigma**2 / cauchy
        information = np.einsum("nk,ki,kj->nij", weight, jacobian, jacobian) + prior
        pull = np.einsum("nk,ki->ni", weight * (reach - 1), jacobian)
        deviation = np.linalg.solve(information, pull[..., None])[..., 0]
    covariance = np.linalg.inv(information) * SIGMA_INFLATION**2
    return EllipseDeviations(np.asarray(deviation, float), np.asarray(covariance, float))


def deviations_to_ovals(
    camera: Camera, ovals: Array, fitted: EllipseDeviations
) -> tuple[Array, Array]:
    """Apply deviations in the stretched plane to ovals (N, 5); also their σ (N, 5)."""
    axes = patch_axes_mm(camera, ovals)
    x, y, size, p, q = fitted.deviation.T
    first = np.stack([1 + size + p, q], -1)
    second = np.stack([q, 1 + size - p], -1)
    stretch = np.stack([first, second], 1) @ axes
    gram = np.swapaxes(stretch, 1, 2) @ stretch
    squares, vectors = np.linalg.eigh(gram)
    longest = vectors[:, :, 1]
    shift = np.stack([x, y], -1)
    centre = ovals[:, :2] + offsets_on_board_mm(camera, ovals, shift)
    half_axes = np.sqrt(np.maximum(squares[:, ::-1], 1e-9))
    heading = np.arctan2(longest[:, 1], longest[:, 0])
    found = np.column_stack([centre, half_axes, heading])
    return found, _oval_sigmas(found, fitted.covariance)


def _oval_sigmas(ovals: Array, covariance: Array) -> Array:
    """Propagate the covariance of the deviations to the σ (N, 5) of ovals, to first order.

    The axes of the deviations are taken as the oval's own.
    """
    variance = np.diagonal(covariance, axis1=1, axis2=2)
    place_variance = variance[:, :2].mean(1)
    place = np.sqrt(place_variance) * equal_area_radius_mm(ovals)
    shape_variance = variance[:, 3:].mean(1)
    size_share = np.sqrt(variance[:, 2] + shape_variance)
    ratio = ovals[:, 2] / ovals[:, 3]
    elongation = np.maximum(ratio - 1 / ratio, 0.1)
    heading = np.sqrt(shape_variance) * 2 / elongation
    half_axes = size_share[:, None] * ovals[:, 2:4]
    return np.column_stack([place, place, half_axes, heading])
