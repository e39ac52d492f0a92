"""Covariance between photos of one camera, by their common lens error."""

from collections.abc import Mapping, Sequence

import numpy as np

from overruler.calibration import Calibration
from overruler.geometry.pose import Array
from overruler.lens import LENS_SIZE
from overruler.vision.least_squares.schur_solver import invert_information

LEAST_SHARE = 1e-9
"""Added to each variance, as a share of it, against rounding."""
LEAST_VARIANCE = 1e-18
"""Added to each variance, for parameters that are exact."""


def common_covariances(
    calibrations: Mapping[int, Calibration], covariances: Mapping[int, Array]
) -> dict[tuple[int, int], Array]:
    """Covariances (17, 17) between the cameras and bows of two photos, by pairs of photos.

    `covariances` (17, 17) are the photos' own. A lens error that is common moves each photo's pose
    as well, as its markers then ask for.
    """
    found: dict[tuple[int, int], Array] = {}
    for members in _group_by_lens(calibrations):
        common = calibrations[members[0]].common_lens
        assert common is not None
        for k in members:
            common = _at_most(common, covariances[k][:LENS_SIZE, :LENS_SIZE])
        follow = {k: _follow_lens(covariances[k]) for k in members}
        for n, i in enumerate(members):
            for j in members[n + 1 :]:
                found[i, j] = follow[i] @ common @ follow[j].T
    return found


def _group_by_lens(calibrations: Mapping[int, Calibration]) -> Sequence[list[int]]:
    """The photos by each camera that took several."""
    groups: dict[bytes, list[int]] = {}
    for k, one in calibrations.items():
        if one.common_lens is not None:
            groups.setdefault(one.common_lens.tobytes(), []).append(k)
    return list(groups.values())


def _follow_lens(covariance: Array) -> Array:
    """(17, 9): regression of a photo's camera and bow on its lens, by their covariance (17, 17)."""
    lens = _regular(covariance[:LENS_SIZE, :LENS_SIZE])
    return np.asarray(covariance[:, :LENS_SIZE] @ invert_information(lens))


def _regular(covariance: Array) -> Array:
    """A covariance (9, 9) with a little more on its diagonal, so that rounding leaves it definite."""
    return covariance + np.diag(LEAST_SHARE * np.diag(covariance) + LEAST_VARIANCE)


def _at_most(common: Array, covariance: Array) -> Array:
    """The common covariance (9, 9), reduced so that it exceeds a photo's own (9, 9) in no direction."""
    root = np.linalg.cholesky(_regular(covariance))
    share = np.linalg.solve(root, np.linalg.solve(root, common).T)
    values, vectors = np.linalg.eigh((share + share.T) / 2)
    kept = root @ vectors
    return np.asarray((kept * np.clip(values, 0.0, 1.0)) @ kept.T)
