"""What is seen, as the least squares take it: edges of markers and clicked points, each with its doubt."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from overruler.geometry.pose import Array
from overruler.vision.camera.noise_scales import NoiseScales
from overruler.vision.markers import edge_noise
from overruler.vision.markers.marker import Marker

CLICK_SIGMA_PX, CLICKED_PLACE_SIGMA_MM = 1.0, 0.6
"""1 σ of a clicked point: of the click in the photo, and of the place on the board that was named."""

ClickedPoint = tuple[float, float, float, float]
"""A clicked point: u and v in the photo, x and y in mm on the board."""


@dataclass(frozen=True, slots=True, eq=False)
class Observation:
    """Everything seen of one marker, or one clicked point."""

    xyz_mm: Array
    """(K, 3): on the board, or on the marker's own plane where it lies anywhere."""
    xy_px: Array
    """(K, 2)."""
    normal_px: Array
    """(K, 2): the direction along which each place was measured."""
    edge_covariance_px2: Array
    """(K, K): covariance along the normals of what these places do not share with the rest of the marker."""
    place_factors_px: Array
    """(K, P): one σ of the marker's place, column by column."""
    specified_place_factors_px: Array
    """(K, P): the same on a table that is as its board file says."""
    shape_factors_px: Array
    """(K, S): one σ of the marker's shape, column by column."""
    is_marker: bool = True
    """Whether these are edges that move towards their dark side."""

    @property
    def growth_jacobian(self) -> Array:
        """(K,): how far each edge moves along its normal as the marker's sides move outwards by 1."""
        reach = self.xy_px - self.xy_px.mean(0)
        return np.asarray((reach * self.normal_px).sum(1) / np.abs(reach).max())

    def covariance(self, scales: NoiseScales) -> Array:
        """(K, K), its own doubt, its place's and its shape's taken `scales` times."""
        return self._sum_covariance(scales, scales[1] * self.place_factors_px)

    def covariance_as_specified(self, scales: NoiseScales) -> Array:
        """The same on a table that is as its board file says, or laid better still, as far as the scales say so."""
        found, told = (
            scales[1] * self.place_factors_px,
            max(scales[1], 1.0) * self.specified_place_factors_px,
        )
        return self._sum_covariance(scales, np.where(np.abs(told) < np.abs(found), told, found))

    def _sum_covariance(self, scales: NoiseScales, place_px: Array) -> Array:
        own, shape = scales[0] ** 2 * self.edge_covariance_px2, scales[2] * self.shape_factors_px
        return np.asarray(own + place_px @ place_px.T + shape @ shape.T)

    def with_place_factors(self, doubt_px: Array, told: float = 1.0) -> "Observation":
        """With more columns (K, P) of doubt about its place, `told` times as much where all is as the file says."""
        place = np.column_stack([self.place_factors_px, doubt_px])
        return replace(
            self,
            place_factors_px=place,
            specified_place_factors_px=np.column_stack(
                [self.specified_place_factors_px, told * doubt_px]
            ),
        )


def square_corners_mm(side_mm: float) -> Array:
    """The corners (4, 3) of a marker that lies anywhere, in its own frame: x along its upper edge, y up."""
    return side_mm * np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (0, -1, 0)], float)


def known_marker_observation(marker: Marker, corners_mm: Array) -> Observation:
    """A marker whose corners (4, 3) on the board are known."""
    side_mm = float(np.linalg.norm(corners_mm[1] - corners_mm[0]))
    return _marker_observation(
        marker,
        corners_mm,
        edge_noise.place_noise_columns_px(marker.square.edges, side_mm / marker.side_px),
    )


def free_marker_observation(marker: Marker, side_mm: float) -> Observation:
    """A marker that lies anywhere: its own place is an unknown, so that nothing of it is noise."""
    return _marker_observation(
        marker, square_corners_mm(side_mm), np.zeros((len(marker.square.edges.place), 0))
    )


def _marker_observation(marker: Marker, corners_mm: Array, place_px: Array) -> Observation:
    edges = marker.square.edges
    origin, right, down = (
        corners_mm[0],
        corners_mm[1] - corners_mm[0],
        corners_mm[3] - corners_mm[0],
    )
    xyz = origin + edges.place[:, :1] * right + edges.place[:, 1:] * down
    own, shape = (
        edge_noise.edge_noise_covariance_px2(edges),
        edge_noise.shape_noise_columns_px(edges),
    )
    return Observation(
        xyz,
        edges.xy_px,
        edges.normal_px,
        own,
        place_px,
        edge_noise.PLACE_SPEC_SHARE * place_px,
        shape,
    )


def point_observations(points: Sequence[ClickedPoint]) -> list[Observation]:
    """Each clicked point by itself, along u and along v."""
    if not points:
        return []
    seen, placed = np.split(np.array(points, float), 2, axis=1)
    spread_px, spread_mm = (
        max(float(np.linalg.norm(places.std(0))), 1e-9) for places in (seen, placed)
    )
    own, nothing = (
        np.eye(2) * (CLICK_SIGMA_PX**2 + (CLICKED_PLACE_SIGMA_MM * spread_px / spread_mm) ** 2),
        np.zeros((2, 0)),
    )
    return [
        Observation(
            np.tile([x, y, 0.0], (2, 1)),
            np.tile([u, v], (2, 1)),
            np.eye(2),
            own,
            nothing,
            nothing,
            nothing,
            is_marker=False,
        )
        for u, v, x, y in points
    ]
