"""The error field: what no lens explains shows in the pattern of residuals between and within markers.

A panorama, a stitched picture, a rolling shutter, a bowed mat or a moved card bends the picture of
the table. The bend is a smooth random field over the table (a Gaussian process). Its amplitude is
learned from the residuals by the marginal likelihood: each marker shows the field's value by its
place, and the field's slope by its size, aspect, shear and turn. The camera takes up what it can,
within its prior, so nothing counts as explained that no camera does.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from overruler.geometry.plane_doubt import STRAIN_SIZE, MarkerContrast, strain_jacobian
from overruler.geometry.pose import Array

LENGTH_SHARE = 1 / 3
"""Correlation length of the field, as a share of the table's longer side."""
AMPLITUDES_MM = np.geomspace(0.02, 40.0, 24)
"""Amplitudes that are tried."""
PRIOR_AMPLITUDE_MM = 0.05
"""Scale of the amplitude's prior, a half-Cauchy: most tables have no field to speak of, some have much."""
CONTRAST_SIGMA = 0.03
"""Prior σ of the markers' size against their spacing: wide, so that the photo alone says it."""
CONTRAST_ASPECT_SIGMA = 5e-4
"""Prior σ of how much that differs along x and along y, and of its shear. Prints and layouts keep their
aspect; a larger difference is one of the picture, and the field's to explain."""
JITTER = 1e-6
"""Share added to the field's variances, so that its covariance can be inverted."""
FIELD_SIZE = 6
"""Numbers of the field at a marker: its value, and its slope along x and along y."""


@dataclass(frozen=True, slots=True, eq=False)
class MarkerBlock:
    """One marker's residuals, whitened by the noise that is expected of any marker."""

    residual: Array
    """(K,): what is seen less what the camera predicts."""
    jacobian: Array
    """(K, U): its derivative by the parameters of the fit."""
    by_place: Array
    """(K, 2): residual change in px by a shift of the table point by 1 mm along x and y, before whitening."""
    whitener: Array
    """(K, K): the whitening matrix of the residuals."""
    xy_mm: Array
    """(K, 2): the points on the table."""


@dataclass(frozen=True, slots=True, eq=False)
class FieldEstimate:
    """What the residuals say of the error field and of the markers' size."""

    amplitude_mm: float
    """Root mean square of the amplitude over its posterior."""
    least_mm: float
    """The amplitude is larger than this with a probability of 0.98."""
    most_mm: float
    """The amplitude is smaller than this with a probability of 0.98."""
    length_mm: float
    """The correlation length assumed."""
    contrast: MarkerContrast | None
    """The markers' size against their spacing; None where their places were unknown."""


LEAST_QUANTILE = 0.02
"""Quantile of the amplitude's posterior that `FieldEstimate.least_mm` reports, `most_mm` its mirror image."""


def estimate_field(
    blocks: Sequence[MarkerBlock],
    prior: Array,
    prior_deviation: Array,
    length_mm: float,
    with_contrast: bool,
) -> FieldEstimate:
    """Estimate the field's amplitude from markers; `prior` (U, U) is the fit's prior information.

    `prior_deviation` (U,) is the fit's state minus its prior's mean.
    """
    system = _accumulate(blocks, prior, prior_deviation, with_contrast)
    centres = np.stack([block.xy_mm.mean(0) for block in blocks])
    unit = field_covariance(centres, length_mm)
    solved = [system.solve(unit, amplitude) for amplitude in AMPLITUDES_MM]
    log_posterior = np.array([one[0] for one in solved]) + _log_prior(AMPLITUDES_MM)
    weight = np.exp(log_posterior - log_posterior.max())
    weight /= weight.sum()
    least, most = np.searchsorted(np.cumsum(weight), (LEAST_QUANTILE, 1 - LEAST_QUANTILE))
    return FieldEstimate(
        amplitude_mm=float(np.sqrt(weight @ AMPLITUDES_MM**2)),
        least_mm=float(AMPLITUDES_MM[least]),
        most_mm=float(AMPLITUDES_MM[min(most, len(AMPLITUDES_MM) - 1)]),
        length_mm=length_mm,
        contrast=_mean_contrast(weight, solved) if with_contrast else None,
    )


def _log_prior(amplitude_mm: Array) -> Array:
    """Log density of the half-Cauchy prior over the logarithm of the amplitude."""
    ratio = amplitude_mm / PRIOR_AMPLITUDE_MM
    return np.asarray(np.log(ratio / (1 + ratio**2)))


def _mean_contrast(weight: Array, solved: Sequence[tuple[float, Array, Array]]) -> MarkerContrast:
    """The contrast, averaged over amplitudes; its covariance has how much they differ."""
    means = np.stack([mean for _, mean, _ in solved])
    mean = weight @ means
    spread = means - mean
    within = np.einsum("n,nij->ij", weight, np.stack([own for _, _, own in solved]))
    return MarkerContrast(mean, within + np.einsum("n,ni,nj->ij", weight, spread, spread))


def field_covariance(centres_mm: Array, length_mm: float) -> Array:
    """(6 G, 6 G): covariance of a field of amplitude 1 mm at G places.

    Over its value (x, y), its slope along x (x, y) and its slope along y (x, y) at each place. The
    correlation is a Gaussian curve of the distance.
    """
    apart = centres_mm[:, None] - centres_mm
    same = np.exp(-np.sum(apart**2, -1) / (2 * length_mm**2))
    step = apart / length_mm**2
    terms = np.zeros((len(centres_mm), 3, len(centres_mm), 3))
    terms[:, 0, :, 0] = same
    for p in (0, 1):
        terms[:, 0, :, 1 + p] = same * step[..., p]
        terms[:, 1 + p, :, 0] = -same * step[..., p]
        for q in (0, 1):
            own = (p == q) / length_mm**2
            terms[:, 1 + p, :, 1 + q] = same * (own - step[..., p] * step[..., q])
    size = 3 * len(centres_mm)
    covariance = terms.reshape(size, size)
    covariance = covariance + JITTER * np.diag(np.diag(covariance))
    return np.asarray(np.kron(covariance, np.eye(2)), np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class _System:
    """The linear model of all markers: parameters of the fit, contrast, field."""

    information: Array
    """(D, D): Gram matrix of the design."""
    right: Array
    """(D,): design times residual."""
    prior: Array
    """(D - F, D - F): prior information of all but the field."""
    mean: Array
    """(D - F,): prior mean of the same."""
    contrast: slice
    """Where the contrast stands."""

    def solve(self, unit_covariance: Array, amplitude_mm: float) -> tuple[float, Array, Array]:
        """Log evidence of an amplitude, up to what all share; the contrast's mean and covariance."""
        known = len(self.prior)
        prior = np.zeros_like(self.information)
        prior[:known, :known] = self.prior
        prior[known:, known:] = np.linalg.inv(unit_covariance) / amplitude_mm**2
        scale = 1 / np.sqrt(np.diag(self.information + prior))
        total = scale[:, None] * (self.information + prior) * scale
        right = scale * self.right
        right[:known] += scale[:known] * (self.prior @ self.mean)
        root = np.linalg.cholesky(total)
        half = np.linalg.solve(root, right)
        volume = np.log(np.diag(root)).sum() - np.log(scale).sum()
        volume += 0.5 * np.linalg.slogdet(unit_covariance)[1]
        volume += len(unit_covariance) * np.log(amplitude_mm)
        inverse = np.linalg.inv(root).T
        mean = (scale * (inverse @ half))[self.contrast]
        rows = (scale[:, None] * inverse)[self.contrast]
        return float(0.5 * half @ half - volume), mean, rows @ rows.T


def _accumulate(
    blocks: Sequence[MarkerBlock], prior: Array, prior_deviation: Array, with_contrast: bool
) -> _System:
    unknowns, contrasts = len(prior), STRAIN_SIZE if with_contrast else 0
    known = unknowns + contrasts
    size = known + FIELD_SIZE * len(blocks)
    information, right = np.zeros((size, size)), np.zeros(size)
    for k, block in enumerate(blocks):
        field = slice(known + FIELD_SIZE * k, known + FIELD_SIZE * (k + 1))
        design = np.zeros((len(block.residual), size))
        design[:, :unknowns] = -block.jacobian
        arm = block.xy_mm - block.xy_mm.mean(0)
        design[:, field] = block.whitener @ _field_design(block.by_place, arm)
        if with_contrast:
            strained = np.einsum("kp,kpj->kj", block.by_place, strain_jacobian(arm))
            design[:, unknowns:known] = block.whitener @ strained
        information += design.T @ design
        right += design.T @ block.residual
    full_prior, mean = np.zeros((known, known)), np.zeros(known)
    full_prior[:unknowns, :unknowns] = prior
    if with_contrast:
        full_prior[unknowns:, unknowns:] = np.linalg.inv(_contrast_prior())
    mean[:unknowns] = -prior_deviation
    return _System(information, right, full_prior, mean, slice(unknowns, known))


def _contrast_prior() -> Array:
    """(3, 3): prior covariance of the contrast."""
    aspect, shear = CONTRAST_ASPECT_SIGMA**2 / 2, CONTRAST_ASPECT_SIGMA**2
    prior = np.diag([aspect, aspect, shear])
    prior[:2, :2] += CONTRAST_SIGMA**2
    return prior


def _field_design(by_place: Array, arm_mm: Array) -> Array:
    """Effect (K, 6) on each point of the field's value, and of its slopes along x and y."""
    along_x, along_y = arm_mm[:, :1] * by_place, arm_mm[:, 1:] * by_place
    return np.column_stack([by_place, along_x, along_y])
