"""The directions in which places see a shape.

Alphabet: p places, n corners. Angles are in radians, lengths in mm.
"""

import numpy as np

from overruler.geometry.batched.vectors import Mask, left_component, left_normals
from overruler.geometry.pose import Array, wrapped_turn
from overruler.geometry.shapes import Disc, Ellipse, Polygon, Shape


def wrap_turn(angles: Array) -> Array:
    """Angles as turns between half a turn to the right and half a turn to the left."""
    return wrapped_turn(angles, 2 * np.pi)


def view_of(shape: Shape, places: Array) -> tuple[Array, Array, Array]:
    """The direction (p,) of a shape's centre, and the turns (p,), (p,) from it to the shape's edges.

    Places inside the shape have no such edges; what they get means nothing.
    """
    offsets = shape.center - places
    middle = np.arctan2(offsets[:, 1], offsets[:, 0])
    if isinstance(shape, Disc):
        distances = np.maximum(np.hypot(offsets[:, 0], offsets[:, 1]), shape.radius_mm)
        half = np.arcsin(shape.radius_mm / np.where(distances > 0, distances, 1.0))
        return middle, -half, half
    if isinstance(shape, Polygon):
        points = np.array(shape.corners)[None] - places[:, None]  # (p, n, 2)
    else:
        points = _tangent_points(shape, places) - places[:, None]
    turns = wrap_turn(np.arctan2(points[..., 1], points[..., 0]) - middle[:, None])
    return middle, turns.min(1), turns.max(1)


def _tangent_points(shape: Ellipse, places: Array) -> Array:
    """The points (p, 2, 2) where the tangents from places touch an ellipse.

    They are those of the unit circle, stretched.
    """
    axes = _axes_of(shape)
    local = np.asarray(np.linalg.solve(axes, (places - shape.center).T).T, float)
    square = np.maximum((local**2).sum(1), 1.0)[:, None]
    aside = left_normals(local) * np.sqrt(square - 1)
    touched = np.stack([local - aside, local + aside], 1) / square[..., None]
    return np.asarray(touched @ axes.T + shape.center)


def _axes_of(shape: Ellipse) -> Array:
    """The matrix (2, 2) that stretches the unit circle to an ellipse."""
    c, s = shape.ahead
    return np.array([[c, -s], [s, c]]) * (shape.length_mm / 2, shape.width_mm / 2)


def lie_inside(shape: Shape, places: Array) -> Mask:
    """Whether each place lies inside a shape; not on its edge."""
    if isinstance(shape, Disc):
        offsets = places - shape.center
        return np.asarray(np.hypot(offsets[:, 0], offsets[:, 1]) < shape.radius_mm)
    if isinstance(shape, Ellipse):
        local = np.linalg.solve(_axes_of(shape), (places - shape.center).T)
        return np.asarray((local**2).sum(0) < 1)
    corners = np.array(shape.corners)
    sides = np.roll(corners, -1, 0) - corners
    return np.asarray((left_component(places[:, None] - corners, sides) > 0).all(1))
