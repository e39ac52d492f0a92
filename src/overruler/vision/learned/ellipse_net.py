"""The learned look at ovals: the networks that know round bases see the board stretched until an oval is a circle.

An oval here is a row (5,) of x, y, half length, half width in mm on the plane z = 0, and heading in rad.
"""

from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.learned.logits import sigmoid
from overruler.vision.learned.patches import (
    CROSS_OFFSETS,
    RING_ANGLE_COUNT,
    Picture,
    equal_area_radius_mm,
    patch_axes_mm,
    ring_angles,
)
from overruler.vision.learned.rim_net import (
    augmented_logits,
    offsets_on_board_mm,
    predict_rim_radii,
    run_patch_network,
)

FREE_PRIOR_SIGMA = np.array([0.15, 0.15, 0.1, 0.12, 0.12])
"""1 σ of what `EllipseDeviations` deviate by, in radii: of a looked-at oval, from which the trace starts, ..."""
KNOWN_SIZE_PRIOR_SIGMA = np.array([0.15, 0.15, 0.01, 0.01, 0.12])
"""... of one whose size is known, ..."""
KNOWN_CIRCLE_PRIOR_SIGMA = np.array([0.15, 0.15, 0.01, 0.01, 0.01])
"""... and of a circle whose size is known."""
START_OFFSET_RADII = 0.12
"""So far beside it, in radii, one of known size is also sought: half hidden, or beside a shadow, the nearest rim may be
the wrong one."""
TRACES_PER_START = 2
"""So many times the rim is followed from each of these places; then from the best of them."""
MAX_SQUARED_RESIDUAL = 9.0
"""Squared σ that a direction misses an oval by at most, in the likelihood of its rim."""
SIGMA_INFLATION = 2.5
"""How much larger errors are than independent directions would make them."""
CAUCHY_SCALE_SIGMA = 2.5
"""Directions that miss the oval by more σ than this count less."""
REWEIGHTING_PASSES = 6


class ScoredOvals(NamedTuple):
    """What the first network makes of N ovals."""

    score: Array
    """(N,): 0 to 1."""
    ovals: Array
    """(N, 5): moved to where they seem to be."""


@dataclass(frozen=True, slots=True, eq=False)
class TracedOvals:
    """N ovals whose rims were followed."""

    score: Array
    """(N,): 0 to 1."""
    ovals: Array
    """(N, 5)."""
    sigma: Array
    """(N, 5): 1 σ of each number."""
    from_above: Array
    """(N,): how likely the look from above takes each for an oval."""

    def __getitem__(self, which: NDArray[np.bool_] | NDArray[np.intp]) -> "TracedOvals":
        return TracedOvals(*(getattr(self, field.name)[which] for field in fields(self)))


@dataclass(frozen=True, slots=True, eq=False)
class EllipseDeviations:
    """Deviations from the unit circle that 48 directions were fitted with: x, y, size, and two of its shape."""

    deviation: Array
    """(N, 5)."""
    covariance: Array
    """(N, 5, 5)."""


def score_ovals(levels: list[Picture], camera: Camera, ovals: Array) -> ScoredOvals:
    """What ovals (N, 5) look like, and where they rather are: place and size, the heading and proportions kept."""
    said = run_patch_network(levels, camera, ovals)
    moved = ovals.copy()
    moved[:, :2] += offsets_on_board_mm(camera, ovals, said[:, 1:3])
    moved[:, 2:4] *= np.exp(said[:, 3:4])
    return ScoredOvals(sigmoid(said[:, 0]), moved)


def average_augmented_scores(levels: list[Picture], camera: Camera, ovals: Array) -> Array:
    """Scores (N,): as log odds, the mean of looks from a little beside."""
    return sigmoid(np.mean(augmented_logits(levels, camera, ovals), 0)[:, 0])


def trace_ovals(levels: list[Picture], camera: Camera, ovals: Array) -> tuple[Array, Array]:
    """Ovals (N, 5) through what the second network sees of their rims, and the σ (N, 5) of each number."""
    if not len(ovals):
        return ovals, ovals
    return deviations_to_ovals(
        camera, ovals, fit_ellipses(*predict_rim_radii(levels, camera, ovals))
    )


def trace_ovals_of_known_size(
    levels: list[Picture], camera: Camera, ovals: Array, spread: Array = KNOWN_SIZE_PRIOR_SIGMA
) -> tuple[Array, Array]:
    """Ovals (N, 5) whose half lengths and half widths are known, moved to where the second network follows their rims
    best, and the σ (N, 5) of their numbers.

    Each is begun there and a little beside; the likeliest is where the rim misses the oval least, by the network's own
    σ. `spread` (5,) is the 1 σ of what they deviate by.
    """
    if not len(ovals):
        return ovals, ovals
    beside = START_OFFSET_RADII * np.einsum(
        "bk,nkd->bnd", CROSS_OFFSETS, patch_axes_mm(camera, ovals)
    )
    places = np.tile(ovals, (len(CROSS_OFFSETS), 1, 1))
    places[..., :2] += beside
    many = places.reshape(-1, 5)
    for _ in range(TRACES_PER_START):
        many, _, misfit = _trace_keeping_size(levels, camera, many, spread)
    best = many.reshape(places.shape)[
        np.argmin(misfit.reshape(len(CROSS_OFFSETS), -1), axis=0), np.arange(len(ovals))
    ]
    found, sigma, _ = _trace_keeping_size(levels, camera, best, spread)
    return found, sigma


def _trace_keeping_size(
    levels: list[Picture], camera: Camera, ovals: Array, spread: Array
) -> tuple[Array, Array, Array]:
    """Ovals (N, 5) moved to where their rims are seen, their size kept; the σ (N, 5), and (N,) -log likelihoods."""
    reach, own = predict_rim_radii(levels, camera, ovals)
    fitted = fit_ellipses(reach, own, spread)
    missed = ((reach - 1 - fitted.deviation @ deviation_jacobian().T) / own) ** 2
    misfit = np.sum(np.minimum(missed, MAX_SQUARED_RESIDUAL) / 2 + np.log(own), 1)
    found, sigma = deviations_to_ovals(camera, ovals, fitted)
    found[:, 2:4] = ovals[:, 2:4]
    return found, sigma, misfit


def deviation_jacobian() -> Array:
    """How far out an ellipse lies (48, 5) by each of the numbers that it deviates from the unit circle by.

    In the direction t it lies 1 + x cos t + y sin t + s + p cos 2t + q sin 2t out, to first order.
    """
    turn = ring_angles()
    return np.stack(
        [np.cos(turn), np.sin(turn), np.ones(RING_ANGLE_COUNT), np.cos(2 * turn), np.sin(2 * turn)],
        -1,
    )


def fit_ellipses(reach: Array, sigma: Array, spread: Array = FREE_PRIOR_SIGMA) -> EllipseDeviations:
    """Ellipses near the unit circle through rims that lie `reach` (N, 48) radii out. Least squares, Cauchy's weights.

    `spread` (5,) is the 1 σ of what they deviate by.
    """
    slope, prior = deviation_jacobian(), np.diag((SIGMA_INFLATION / spread) ** 2)
    deviation, information = np.zeros((len(reach), 5)), np.tile(prior, (len(reach), 1, 1))
    for _ in range(REWEIGHTING_PASSES):
        missed = reach - 1 - deviation @ slope.T
        weight = 1 / sigma**2 / (1 + (missed / (CAUCHY_SCALE_SIGMA * sigma)) ** 2)
        information = np.einsum("nk,ki,kj->nij", weight, slope, slope) + prior
        pull = np.einsum("nk,ki->ni", weight * (reach - 1), slope)
        deviation = np.linalg.solve(information, pull[..., None])[..., 0]
    return EllipseDeviations(
        np.asarray(deviation, float),
        np.asarray(np.linalg.inv(information) * SIGMA_INFLATION**2, float),
    )


def deviations_to_ovals(
    camera: Camera, ovals: Array, fitted: EllipseDeviations
) -> tuple[Array, Array]:
    """Ovals (N, 5) that deviate so from some in the stretched plane, and the σ (N, 5) of their numbers."""
    axes = patch_axes_mm(camera, ovals)
    x, y, size, p, q = fitted.deviation.T
    stretch = np.stack([np.stack([1 + size + p, q], -1), np.stack([q, 1 + size - p], -1)], 1) @ axes
    value, vector = np.linalg.eigh(np.swapaxes(stretch, 1, 2) @ stretch)
    length = vector[:, :, 1]
    found = np.column_stack(
        [
            ovals[:, :2] + offsets_on_board_mm(camera, ovals, np.stack([x, y], -1)),
            np.sqrt(np.maximum(value[:, ::-1], 1e-9)),
            np.arctan2(length[:, 1], length[:, 0]),
        ]
    )
    return found, _oval_sigmas(found, fitted.covariance)


def _oval_sigmas(ovals: Array, covariance: Array) -> Array:
    """The σ of an oval's numbers by those of the five deviations: to first order, its axes nearly its own."""
    variance = np.diagonal(covariance, axis1=1, axis2=2)
    place = np.sqrt(variance[:, :2].mean(1)) * equal_area_radius_mm(ovals)
    share = np.sqrt(variance[:, 2] + variance[:, 3:].mean(1))
    ratio = ovals[:, 2] / ovals[:, 3]
    turn = np.sqrt(variance[:, 3:].mean(1)) * 2 / np.maximum(ratio - 1 / ratio, 0.1)
    return np.column_stack([place, place, share * ovals[:, 2], share * ovals[:, 3], turn])
