"""What is seen, as the least squares take it: edges of markers and clicked points, each with its doubt."""

from collections.abc import Sequence

import numpy as np

from overruler.geometry.pose import Array
from overruler.vision import noise
from overruler.vision.markers import Marker
from overruler.vision.solve import Group

POINT_PX, POINT_MM = 1.0, 0.6
"""1 σ of a clicked point: of the click in the photo, and of the place on the board that was named."""

Point = tuple[float, float, float, float]
"""A clicked point: u and v in the photo, x and y in mm on the board."""


def square_mm(side_mm: float) -> Array:
    """The corners (4, 3) of a marker that lies anywhere, in its own frame: x along its upper edge, y up."""
    return side_mm * np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (0, -1, 0)], float)


def known_group(marker: Marker, corners_mm: Array) -> Group:
    """A marker whose corners (4, 3) on the board are known."""
    side_mm = float(np.linalg.norm(corners_mm[1] - corners_mm[0]))
    return _group(marker, corners_mm, noise.place_columns(marker.square.edges, side_mm / marker.side_px))


def free_group(marker: Marker, side_mm: float) -> Group:
    """A marker that lies anywhere: its own place is an unknown, so that nothing of it is noise."""
    return _group(marker, square_mm(side_mm), np.zeros((len(marker.square.edges.place), 0)))


def _group(marker: Marker, corners_mm: Array, place_px: Array) -> Group:
    edges = marker.square.edges
    origin, right, down = corners_mm[0], corners_mm[1] - corners_mm[0], corners_mm[3] - corners_mm[0]
    xyz = origin + edges.place[:, :1] * right + edges.place[:, 1:] * down
    own, shape = noise.own_covariance(edges), noise.shape_columns(edges)
    return Group(xyz, edges.xy_px, edges.normal_px, own, place_px, noise.TOLD_PLACE * place_px, shape)


def point_groups(points: Sequence[Point]) -> list[Group]:
    """Each clicked point by itself, along u and along v."""
    if not points:
        return []
    seen, placed = np.split(np.array(points, float), 2, axis=1)
    spread_px, spread_mm = (max(float(np.linalg.norm(places.std(0))), 1e-9) for places in (seen, placed))
    own, nothing = np.eye(2) * (POINT_PX**2 + (POINT_MM * spread_px / spread_mm) ** 2), np.zeros((2, 0))
    return [
        Group(
            np.tile([x, y, 0.0], (2, 1)),
            np.tile([u, v], (2, 1)),
            np.eye(2),
            own,
            nothing,
            nothing,
            nothing,
            shifts=False,
        )
        for u, v, x, y in points
    ]
