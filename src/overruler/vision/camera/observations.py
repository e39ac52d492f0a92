"""Observations for the bundle adjustment: edge points of markers and clicked points, with covariances."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.pose import Array
from overruler.vision.camera.variance_components import NoiseScales
from overruler.vision.markers import edge_noise
from overruler.vision.markers.marker import Marker

CLICK_SIGMA_PX = 1.0
"""1 σ of a click in the photo, along u and along v."""
CLICKED_PLACE_SIGMA_MM = 0.6
"""1 σ of the place on the board that the user gave for a click."""

ClickedPoint = tuple[float, float, float, float]
"""A clicked point: u and v in the photo, x and y in mm on the board."""


@dataclass(frozen=True, slots=True, eq=False)
class Observation:
    """One marker, or one clicked point, as K scalar measurements in the photo.

    The noise factors are square roots of covariances: the covariance of F (K, n) is F Fᵀ.
    """

    xyz_mm: Array
    """(K, 3): points on the board, or in the marker's own frame if its place is unknown."""
    xy_px: Array
    """(K, 2): where they are seen."""
    normal_px: Array
    """(K, 2): unit direction along which each point was measured."""
    edge_covariance_px2: Array
    """(K, K): covariance of the measurements along the normals, place and shape aside."""
    place_factors_px: Array
    """(K, P): noise factor of the marker's place; column p is its effect at 1 σ."""
    specified_place_factors_px: Array
    """(K, P): the same for a table that is as its board file specifies."""
    shape_factors_px: Array
    """(K, S): noise factor of the marker's shape."""
    is_marker: bool = True
    """Whether these are edges, which shift towards their dark side."""

    @property
    def growth_jacobian(self) -> Array:
        """(K,): shift of each edge along its normal by a growth of 1 px; 0 for a clicked point."""
        if not self.is_marker:
            return np.zeros(len(self.xy_px))
        from_centre = self.xy_px - self.xy_px.mean(0)
        along_normal = (from_centre * self.normal_px).sum(1)
        return np.asarray(along_normal / np.abs(from_centre).max())

    def covariance(self, scales: NoiseScales) -> Array:
        """(K, K): covariance along the normals, with each kind of noise scaled by `scales`."""
        return self._sum_covariance(scales, scales.place * self.place_factors_px)

    def covariance_as_specified(self, scales: NoiseScales) -> Array:
        """The same for a table that is as its board file specifies, or better if the scales are."""
        usual = scales.place * self.place_factors_px
        specified = max(scales.place, 1.0) * self.specified_place_factors_px
        smaller = np.where(np.abs(specified) < np.abs(usual), specified, usual)
        return self._sum_covariance(scales, smaller)

    def _sum_covariance(self, scales: NoiseScales, place_px: Array) -> Array:
        edge = scales.edge**2 * self.edge_covariance_px2
        shape = scales.shape * self.shape_factors_px
        return np.asarray(edge + place_px @ place_px.T + shape @ shape.T)

    def with_place_factors(self, factors_px: Array, specified_share: float = 1.0) -> "Observation":
        """Append columns (K, n) to the place noise, times `specified_share` on a table as specified."""
        specified = [self.specified_place_factors_px, specified_share * factors_px]
        return replace(
            self,
            place_factors_px=np.column_stack([self.place_factors_px, factors_px]),
            specified_place_factors_px=np.column_stack(specified),
        )


def square_corners_mm(side_mm: float) -> Array:
    """Corners (4, 3) of a marker in its own frame: origin top left, x along the upper edge, y up."""
    return side_mm * np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (0, -1, 0)], float)


def known_marker_observation(marker: Marker, corners_mm: Array) -> Observation:
    """A marker whose corners (4, 3) on the board are known."""
    side_mm = float(np.linalg.norm(corners_mm[1] - corners_mm[0]))
    mm_per_px = side_mm / marker.side_px
    place_px = edge_noise.place_noise_columns_px(marker.square.edges, mm_per_px)
    return _marker_observation(marker, corners_mm, place_px)


def free_marker_observation(marker: Marker, side_mm: float) -> Observation:
    """A marker of unknown place: the place is a parameter, so it adds no noise."""
    no_factors = np.zeros((len(marker.square.edges.place), 0))
    return _marker_observation(marker, square_corners_mm(side_mm), no_factors)


def _marker_observation(marker: Marker, corners_mm: Array, place_px: Array) -> Observation:
    square, edges = marker.square, marker.square.edges
    origin = corners_mm[0]
    right = corners_mm[1] - origin
    down = corners_mm[3] - origin
    return Observation(
        xyz_mm=origin + edges.place[:, :1] * right + edges.place[:, 1:] * down,
        xy_px=edges.xy_px,
        normal_px=edges.normal_px,
        edge_covariance_px2=edge_noise.edge_noise_covariance_px2(edges),
        place_factors_px=place_px,
        specified_place_factors_px=edge_noise.PLACE_SPEC_SHARE * place_px,
        shape_factors_px=edge_noise.shape_noise_columns_px(edges, square.shift_px, marker.cell_px),
    )


def point_observations(points: Sequence[ClickedPoint]) -> list[Observation]:
    """One observation for each clicked point, with measurements along u and along v."""
    if not points:
        return []
    covariance_px2 = np.eye(2) * _clicked_point_variance_px2(points)
    return [_point_observation(point, covariance_px2) for point in points]


def _clicked_point_variance_px2(points: Sequence[ClickedPoint]) -> float:
    """Variance along an axis: of the click, and of the place on the board at the points' scale."""
    pixels, places = np.split(np.array(points, float), 2, axis=1)
    spread_px = _spread(pixels)
    spread_mm = _spread(places)
    return CLICK_SIGMA_PX**2 + (CLICKED_PLACE_SIGMA_MM * spread_px / spread_mm) ** 2


def _spread(points: Array) -> float:
    return max(float(np.linalg.norm(points.std(0))), 1e-9)


def _point_observation(point: ClickedPoint, covariance_px2: Array) -> Observation:
    u, v, x, y = point
    no_factors = np.zeros((2, 0))
    return Observation(
        xyz_mm=np.tile([x, y, 0.0], (2, 1)),
        xy_px=np.tile([u, v], (2, 1)),
        normal_px=np.eye(2),
        edge_covariance_px2=covariance_px2,
        place_factors_px=no_factors,
        specified_place_factors_px=no_factors,
        shape_factors_px=no_factors,
        is_marker=False,
    )


def choose_spread(groups: Sequence[Observation], most: int) -> list[int]:
    """Indices of at most so many observations, the first among them, spread over the picture."""
    centres_px = np.stack([group.xy_px.mean(0) for group in groups])
    return sorted(spread_indices(centres_px, most).tolist())


def spread_indices(xy_px: Array, most: int) -> NDArray[np.intp]:
    """Indices of at most so many points (N, 2), each as far from those before it as can be."""
    if len(xy_px) <= most:
        return np.arange(len(xy_px))
    chosen, apart_px = [0], np.linalg.norm(xy_px - xy_px[0], axis=1)
    while len(chosen) < most:
        chosen.append(int(apart_px.argmax()))
        apart_px = np.minimum(apart_px, np.linalg.norm(xy_px - xy_px[chosen[-1]], axis=1))
    return np.array(chosen)
