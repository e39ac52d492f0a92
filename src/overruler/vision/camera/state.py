"""The parameters of the bundle adjustment (camera, edges, bow, free markers) and its solution."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from overruler.calibration import CAMERA_SIZE, TableBow
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.lens import pack_lens

EDGE_SHIFT_INDEX = CAMERA_SIZE
"""Index of the edge shift among the parameters; the camera's 15 come first."""
MARKER_GROWTH_INDEX = EDGE_SHIFT_INDEX + 1
"""Index of the marker growth."""
BOW_START = MARKER_GROWTH_INDEX + 1
"""Index of the first of the bow's two heights."""
PLACES_START = BOW_START + 2
"""Index of the first place of a free marker."""
OWN_SIZE = 3
"""Numbers of a free marker's place: x, y and heading."""
CAMERA_AND_BOW = np.r_[:CAMERA_SIZE, BOW_START:PLACES_START]
"""Indices of the camera and the bow."""


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """Values of the parameters. Of G free markers the first one fixes the gauge."""

    camera: Camera
    """Intrinsics, distortion and pose."""
    edge_shift_px: float
    """Shift of all edges towards their dark side."""
    places: Array | None = None
    """(G, 3): x and y in mm and heading in radians of each free marker; None for a known layout."""
    marker_growth_px: float = 0.0
    """Outward shift in px of every marker's outer sides against its inner edges."""
    bow: TableBow | None = None
    """The table's bow; None for a flat table."""

    @property
    def lens(self) -> Array:
        """(9,): the lens's parameters fx fy cx cy k1 k2 p1 p2 k3."""
        return pack_lens(self.camera.matrix, self.camera.distortion)

    @property
    def unknown_count(self) -> int:
        """Number of parameters: 19, and three for each free marker but the first."""
        return PLACES_START + (0 if self.places is None else 3 * (len(self.places) - 1))

    def own_index(self, group: int) -> int | None:
        """The index of a marker among those whose place is a parameter; None for all others."""
        return group - 1 if self.places is not None and group > 0 else None

    def moved(self, step: Array) -> "State":
        """Add a step (U,) to the parameters."""
        places, bow = self.places, self.bow
        if places is not None:
            steps = step[PLACES_START:].reshape(-1, 3)
            places = places + np.concatenate([np.zeros((1, 3)), steps])
        if bow is not None:
            bow = replace(bow, height_mm=bow.height_mm + step[BOW_START:PLACES_START])
        return State(
            camera=self.camera.moved(step[:CAMERA_SIZE]),
            edge_shift_px=self.edge_shift_px + float(step[EDGE_SHIFT_INDEX]),
            places=places,
            marker_growth_px=self.marker_growth_px + float(step[MARKER_GROWTH_INDEX]),
            bow=bow,
        )

    def points_on_board(self, group: NDArray[np.intp], xyz_mm: Array) -> Array:
        """Board coordinates (K, 3) of points (K, 3) of the observations with indices `group` (K,)."""
        if self.places is None:
            return self._lift_by_bow(group, xyz_mm)
        x, y, _ = self.places[group].T
        turned_x, turned_y = self._turned(self.places, group, xyz_mm)
        return self._lift_by_bow(group, np.stack([turned_x + x, turned_y + y, xyz_mm[:, 2]], -1))

    def place_jacobian(self, group: NDArray[np.intp], xyz_mm: Array) -> Array | None:
        """The Jacobian (K, 3, 3) of `points_on_board` by the marker's x, y and heading; None for a known layout."""
        if self.places is None:
            return None
        jacobian = np.zeros((len(group), 3, 3))
        jacobian[:, 0, 0] = jacobian[:, 1, 1] = 1
        turned_x, turned_y = self._turned(self.places, group, xyz_mm)
        jacobian[:, 0, 2] = -turned_y
        jacobian[:, 1, 2] = turned_x
        return jacobian

    @staticmethod
    def _turned(places: Array, group: NDArray[np.intp], xyz_mm: Array) -> tuple[Array, Array]:
        """Points (K, 3) of free markers as x and y (K,) along the board's axes, about each marker's place."""
        heading = places[:, 2]
        c, s = np.cos(heading)[group], np.sin(heading)[group]
        return c * xyz_mm[:, 0] - s * xyz_mm[:, 1], s * xyz_mm[:, 0] + c * xyz_mm[:, 1]

    def _lift_by_bow(self, group: NDArray[np.intp], xyz_mm: Array) -> Array:
        """Add the bow's height to points (K, 3) of a flat table."""
        if self.bow is None:
            return xyz_mm
        lift_mm = self.bow_shares(group, xyz_mm) @ self.bow.height_mm
        return np.column_stack([xyz_mm[:, :2], xyz_mm[:, 2] + lift_mm])

    def bow_shares(self, group: NDArray[np.intp], xyz_mm: Array) -> Array:
        """Weights (K, 2) of the bow's heights at points (K, 3).

        A card lies flat, lifted by the bow's height at its centre. The bow's slope there would say
        more only if tables were parabolas and cards never curled.
        """
        if self.bow is None:
            return np.zeros((len(group), 2))
        count = np.maximum(np.bincount(group), 1)
        sums = [np.bincount(group, xyz_mm[:, axis]) for axis in (0, 1)]
        centres = np.stack([total / count for total in sums], -1)
        return self.bow.height_weights(centres[group])


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """The best state and its covariance."""

    state: State
    """The parameters."""
    camera_bow_covariance: Array
    """(17, 17): covariance of the camera's parameters and the bow's two heights."""
    rms_px: float
    """Root mean square of the reprojection residuals along the edges' normals."""
    log_evidence: float
    """Logarithm of the evidence of the prior (Laplace's method), up to what all priors share."""
    unit_weight_sigma: float
    """Standard deviation of unit weight: root of chi square per degree of freedom."""
    mean_square_residuals: tuple[float, ...]
    """Mean square of each observation's whitened residuals; 1 is as expected."""
    lens_pull_sigmas: float
    """Root mean square deviation of the nine lens parameters from their prior mean, in σ."""

    @property
    def covariance(self) -> Array:
        """(15, 15): covariance of the camera's parameters."""
        return self.camera_bow_covariance[:CAMERA_SIZE, :CAMERA_SIZE]


class Linearization(NamedTuple):
    """The residuals about a state, and their derivatives."""

    residual: Array
    """(N,): along the normals in px."""
    shared: Array
    """(N, 19): Jacobian by camera, edges and bow."""
    own: Array
    """(N, 3): Jacobian by the place of the marker; 0 for a known layout."""


def camera_and_bow(covariance: Array) -> Array:
    """The block (17, 17) of the camera and the bow of a covariance of shared parameters."""
    return np.asarray(covariance[np.ix_(CAMERA_AND_BOW, CAMERA_AND_BOW)])
