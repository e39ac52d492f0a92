"""The image of a printed square: a homography, bent a little by the lens, with shifted edges."""

import numpy as np

from overruler.geometry.pose import Array

STATE_SIZE = 10
"""Numbers of a state: four corners in px (8), the bend, and the edges' shift in px."""
DIFFERENCE_STEPS = np.diag([0.1] * 8 + [1e-4, 0.0])[:9]
"""Steps of the Jacobian's central differences. The shift's column is known exactly."""
NORMAL_STEP = 1e-3
"""Step of the differences that give an edge's normal, in sides."""
NEWTON_ITERATIONS = 5


class SquareModel:
    """The unit square in a picture of `size_px`, bent about the picture's centre."""

    __slots__ = ("middle", "radius")

    middle: Array
    """(2,): the picture's centre in px."""
    radius: float
    """Half of the picture's diagonal in px."""

    def __init__(self, size_px: tuple[int, int]) -> None:
        self.middle = (np.array(size_px) - 1) / 2
        self.radius = float(np.hypot(*size_px)) / 2

    def predict(self, states: Array, place: Array) -> Array:
        """Project places (S, 2) of the square to pixels (..., S, 2) by states (..., 10)."""
        bend = states[..., 8, None, None]
        corners = states[..., :8].reshape(*states.shape[:-1], 4, 2)
        matrix = square_to_quad(self._undistort_corners(corners, bend))
        points = np.column_stack([place, np.ones(len(place))])
        flat = points @ np.swapaxes(matrix, -1, -2)
        weight = flat[..., 2]
        x = flat[..., 0] / weight - self.middle[0]
        y = flat[..., 1] / weight - self.middle[1]
        square = x * x + y * y
        growth = 1 + bend[..., 0] * square / self.radius**2
        bent: Array = np.stack([x * growth, y * growth], -1) + self.middle
        return bent

    def _undistort_corners(self, bent: Array, bend: Array) -> Array:
        """Undo the bend of corners (..., 4, 2) by Newton's method on their distance."""
        away = (bent - self.middle) / self.radius
        distance = np.sqrt((away**2).sum(-1, keepdims=True))
        goal = np.maximum(distance, 1e-12)
        reach = goal
        for _ in range(NEWTON_ITERATIONS):
            error = reach * (1 + bend * reach**2) - goal
            reach = reach - error / (1 + 3 * bend * reach**2)
        return np.asarray(self.middle + away * self.radius * reach / goal)

    def normals(self, state: Array, place: Array, across: Array) -> tuple[Array, Array]:
        """Project places (S, 2), with unit normals (S, 2) towards the bright side, `across`."""
        along, step = across[:, ::-1] * NORMAL_STEP, across * NORMAL_STEP
        places = np.concatenate([place, place + step, place + along, place - along])
        here, bright, ahead, behind = np.split(self.predict(state, places), 4)
        normal = (ahead - behind)[:, ::-1] * (1, -1)
        normal *= np.sign((normal * (bright - here)).sum(1, keepdims=True))
        length = np.linalg.norm(normal, axis=1, keepdims=True)
        return here, np.asarray(normal / length)

    def residuals(self, state: Array, place: Array, seen_px: Array, normal_px: Array) -> Array:
        """Return the residuals (S,) of edges along their normals, in px."""
        off_px = seen_px - self.predict(state, place)
        return np.asarray((off_px * normal_px).sum(1) + state[9])

    def residual_jacobian(self, state: Array, place: Array, normal_px: Array) -> Array:
        """Return d residuals / d state (S, 10), by central differences."""
        states = np.concatenate([state + DIFFERENCE_STEPS, state - DIFFERENCE_STEPS])
        moved = self.predict(states, place)
        widths = 2 * DIFFERENCE_STEPS.max(1)
        slope = (moved[:9] - moved[9:]) / widths[:, None, None]
        along_normal = (slope * normal_px).sum(-1)
        return np.column_stack([-along_normal.T, np.ones(len(place))])


def square_to_quad(corners: Array) -> Array:
    """Return the homography (..., 3, 3) from the unit square to corners (..., 4, 2).

    The order is (0, 0), (1, 0), (1, 1), (0, 1). Heckbert, "Fundamentals of texture mapping and
    image warping" (1989).
    """
    x = np.moveaxis(corners[..., 0], -1, 0)
    y = np.moveaxis(corners[..., 1], -1, 0)
    dx1 = x[1] - x[2]
    dx2 = x[3] - x[2]
    dy1 = y[1] - y[2]
    dy2 = y[3] - y[2]
    sum_x = x[0] - x[1] + x[2] - x[3]
    sum_y = y[0] - y[1] + y[2] - y[3]
    determinant = dx1 * dy2 - dx2 * dy1
    g = (sum_x * dy2 - dx2 * sum_y) / determinant
    h = (dx1 * sum_y - sum_x * dy1) / determinant
    rows = (*_numerator(x, g, h), *_numerator(y, g, h), g, h, np.ones_like(g))
    return np.stack(rows, -1).reshape(*corners.shape[:-2], 3, 3)


def _numerator(x: Array, g: Array, h: Array) -> tuple[Array, Array, Array]:
    """Return a row of the homography by one coordinate of the corners (4, ...)."""
    along_u = x[1] - x[0] + g * x[1]
    along_v = x[3] - x[0] + h * x[3]
    return along_u, along_v, x[0]
