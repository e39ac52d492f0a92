"""How far the photos disagree beyond their stated doubt: what that adds to the covariance.

Fits of one kind may err more on one table than elsewhere, by its light or its ground. The residuals
of its sightings tell by how much. A base whose own photos disagree is doubted more than the others.
"""

from collections.abc import Sequence

import numpy as np

from overruler.geometry.pose import Array
from overruler.vision.fusion.joint_fit import JointFit, diagonal_blocks, fit_jointly
from overruler.vision.fusion.noise import PlacedBase
from overruler.vision.pairing.sighting import Sighting

MEDIAN_CHI2 = 1.386
"""Median of a squared distance in σ in the plane, where all is as stated: 2 ln 2."""
PRIOR_SIGHTINGS = 6.0
"""Weight of the stated variance, as a number of sightings."""
BASE_FREEDOM = 6.0
"""Degrees of freedom of the prior on one base's variance factor."""
GROWTH_ROUNDS = 4
"""Rounds in which the growth is found: errors that photos share do not grow, so it is not linear."""


def infer_factors(placed: Sequence[PlacedBase]) -> dict[str, float]:
    """By how much the fits of each kind of base err more than stated, as a factor on the variance.

    All sightings count, also those that are left out later as outliers.
    """
    fit = fit_jointly(placed, rounds=0)
    counts = np.array([len(base.sightings) for base in placed for _ in base.sightings])
    kinds = np.array([kind_of(one) for base in placed for one in base.sightings])
    found = dict.fromkeys(kinds.tolist(), 1.0)
    for _ in range(GROWTH_ROUNDS):
        chi2 = _residual_chi2(fit, [found[kind] for kind in kinds.tolist()])
        for kind in found:
            told = (kinds == kind) & (counts > 1)
            found[kind] = max(1.0, found[kind] * _table_step(chi2[told], counts[told]))
    return found


def growth_mm2(placed: Sequence[PlacedBase], fit: JointFit) -> Array:
    """(2 N, 2 N): what is added to the covariance by bases whose own photos disagree.

    Only the sightings' own errors grow, not those of cameras and heights.
    """
    factors = _base_factors(placed, _residual_chi2(fit, len(fit.chi2) * [1.0]))
    added = np.zeros((len(fit.place_gain), len(fit.place_gain)))
    for m, (factor, block) in enumerate(zip(factors, fit.own_mm2, strict=True)):
        columns = fit.place_gain[:, 2 * m : 2 * m + 2]
        added += (factor - 1) * columns @ block @ columns.T
    return np.asarray((added + added.T) / 2)


def kind_of(one: Sighting) -> str:
    """Rounds and ovals are fitted alike, plates and other rectangles in another way."""
    return "rectangle" if one.detection.base.shape == "rectangle" else "round"


def _residual_chi2(fit: JointFit, factors: Sequence[float]) -> Array:
    """(M,): squared residuals of M sightings, in their own σ where own errors grow by factors."""
    count, noise = len(factors), fit.noise_mm2.copy()
    noise[diagonal_blocks(count)] += (np.reshape(factors, (-1, 1, 1)) - 1) * fit.own_mm2
    shape = count, 2, len(noise)
    gains = fit.residual_gain.reshape(shape)
    pulled = (fit.residual_gain @ noise).reshape(shape)
    inverse = np.linalg.pinv(pulled @ gains.swapaxes(1, 2), rcond=1e-6, hermitian=True)
    off = fit.residuals_mm[:, :, None]
    return np.asarray((off.swapaxes(1, 2) @ inverse @ off)[:, 0, 0])


def _table_step(chi2: Array, counts: Array) -> float:
    """The factor on one kind's own variances that its median residual asks for."""
    if not len(chi2):
        return 1.0
    weight = float(((counts - 1) / counts).sum())
    ratio = float(np.median(chi2)) / MEDIAN_CHI2
    return (PRIOR_SIGHTINGS + weight * ratio) / (PRIOR_SIGHTINGS + weight)


def _base_factors(placed: Sequence[PlacedBase], chi2: Array) -> Array:
    """(M,): factors on the own variances of bases whose photos disagree more than the table's do."""
    factors, first = [], 0
    for base in placed:
        count = len(base.sightings)
        total = float(chi2[first : first + count].sum()) * (count - 1) / count
        factor = (BASE_FREEDOM + total) / (BASE_FREEDOM + 2 * (count - 1))
        factors += count * [max(1.0, factor)]
        first += count
    return np.array(factors)
