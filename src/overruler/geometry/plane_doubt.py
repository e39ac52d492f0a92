"""Doubt about a table that the camera's covariance does not have: its scale, and a smooth error field."""

from dataclasses import dataclass, field

import numpy as np

from overruler.geometry.pose import Array

STRAIN_SIZE = 3
"""Number of components of a plane strain: along x, along y, and the shear of the two."""
ROUGH_SHARE = 1.0
"""Variance of the field's rough part, as a share of the smooth part's: seams and steps are not smooth."""
ROUGH_LENGTH_SHARE = 0.25
"""Mean distance between the steps of the rough part, as a share of the field's length. A seam lies
between two points with a probability that grows with their distance: the correlation is exponential."""
DEFAULT_LENGTH_MM = 300.0
"""Correlation length of an error field of amplitude 0, where it does not matter."""


def strain_jacobian(from_centre_mm: Array) -> Array:
    """Shift (N, 2, 3) of points (N, 2) by a unit strain along x, along y, and in shear."""
    x, y = from_centre_mm[:, 0], from_centre_mm[:, 1]
    zero = np.zeros_like(x)
    return np.stack([np.stack([x, zero, y / 2], -1), np.stack([zero, y, x / 2], -1)], 1)


@dataclass(frozen=True, slots=True, eq=False)
class TableDoubt:
    """What may be wrong all over a table: a strain of the whole, and a field that varies smoothly."""

    strain_covariance: Array = field(default_factory=lambda: np.zeros((STRAIN_SIZE, STRAIN_SIZE)))
    """(3, 3): second moment of the strain about 0: along x, along y, and shear."""
    field_mm: float = 0.0
    """1 σ of the error field, along x and along y."""
    length_mm: float = DEFAULT_LENGTH_MM
    """Distance over which the field's error changes: nearer points share most of it."""

    def covariance_mm2(self, from_centre_mm: Array) -> Array:
        """(2 N, 2 N) in mm² over (x, y) of points (N, 2) about the table's centre."""
        by_strain = strain_jacobian(from_centre_mm).reshape(-1, STRAIN_SIZE)
        apart = np.linalg.norm(from_centre_mm[:, None] - from_centre_mm, axis=-1) / self.length_mm
        rough = ROUGH_SHARE * np.exp(-apart / ROUGH_LENGTH_SHARE)
        shared = np.exp(-(apart**2) / 2) + rough
        by_field = np.kron(self.field_mm**2 * shared, np.eye(2))
        return np.asarray(by_strain @ self.strain_covariance @ by_strain.T + by_field)


NO_DOUBT = TableDoubt()
"""A table whose scale is exact, without an error field."""


@dataclass(frozen=True, slots=True, eq=False)
class MarkerContrast:
    """How much larger the markers look than the distances between them say."""

    strain: Array
    """(3,): along x, along y, and shear of the markers against their layout."""
    covariance: Array
    """(3, 3): its covariance, by the photo alone."""
