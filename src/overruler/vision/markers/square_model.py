"""How the plane of one printed square is seen: a homography, bent a little by the lens, and edges that are shifted."""

import numpy as np

from overruler.geometry.pose import Array

STATE_SIZE = 10
"""Of a state: the four corners as seen (8), the bend, and the shift of edges towards their dark side in px."""
DIFFERENCE_STEPS = np.diag([0.1] * 8 + [1e-4, 0.0])[:9]
"""Steps of the Jacobian's differences; the shift's column is known."""


class SquareModel:
    """The unit square in a picture of `size_px`, bent about the picture's middle."""

    def __init__(self, size_px: tuple[int, int]) -> None:
        self.middle = (np.array(size_px) - 1) / 2
        self.radius = float(np.hypot(*size_px)) / 2

    def predict(self, states: Array, place: Array) -> Array:
        """Where places (S, 2) of the square are seen (..., S, 2) in states (..., 10)."""
        bend = states[..., 8, None, None]
        matrix = square_to_quad(
            self._undistort_corners(states[..., :8].reshape(*states.shape[:-1], 4, 2), bend)
        )
        flat = np.column_stack([place, np.ones(len(place))]) @ np.swapaxes(matrix, -1, -2)
        x, y = (
            flat[..., 0] / flat[..., 2] - self.middle[0],
            flat[..., 1] / flat[..., 2] - self.middle[1],
        )
        growth = 1 + bend[..., 0] * (x * x + y * y) / self.radius**2
        return np.stack([self.middle[0] + x * growth, self.middle[1] + y * growth], -1)

    def _undistort_corners(self, bent: Array, bend: Array) -> Array:
        """Corners (..., 4, 2) with the bending undone: Newton's method on the distance from the middle."""
        away = (bent - self.middle) / self.radius
        goal = np.maximum(np.sqrt((away**2).sum(-1, keepdims=True)), 1e-12)
        reach = goal
        for _ in range(5):
            reach = reach - (reach * (1 + bend * reach**2) - goal) / (1 + 3 * bend * reach**2)
        return np.asarray(self.middle + away * self.radius * reach / goal)

    def normals(self, state: Array, place: Array, across: Array) -> tuple[Array, Array]:
        """Where places (S, 2) are seen, and unit normals (S, 2) there of edges whose bright side lies `across`."""
        along, step = across[:, ::-1] * 1e-3, across * 1e-3
        seen = self.predict(
            state, np.concatenate([place, place + step, place + along, place - along])
        )
        here, bright, ahead, behind = np.split(seen, 4)
        normal = (ahead - behind)[:, ::-1] * (1, -1)
        normal *= np.sign((normal * (bright - here)).sum(1, keepdims=True))
        return here, np.asarray(normal / np.linalg.norm(normal, axis=1, keepdims=True))

    def residuals(self, state: Array, place: Array, seen_px: Array, normal_px: Array) -> Array:
        """How far edges lie from where the state has them (S,), along their normals."""
        return np.asarray(((seen_px - self.predict(state, place)) * normal_px).sum(1) + state[9])

    def residual_jacobian(self, state: Array, place: Array, normal_px: Array) -> Array:
        """d residuals / d state (S, 10), by central differences."""
        moved = self.predict(
            np.concatenate([state + DIFFERENCE_STEPS, state - DIFFERENCE_STEPS]), place
        )
        slope = (moved[:9] - moved[9:]) / (2 * DIFFERENCE_STEPS.max(1))[:, None, None]
        return np.column_stack([-(slope * normal_px).sum(-1).T, np.ones(len(place))])


def square_to_quad(corners: Array) -> Array:
    """The homography (..., 3, 3) of the unit square to corners (..., 4, 2), the order (0, 0), (1, 0), (1, 1), (0, 1).

    Heckbert, "Fundamentals of texture mapping and image warping" (1989).
    """
    x, y = np.moveaxis(corners[..., 0], -1, 0), np.moveaxis(corners[..., 1], -1, 0)
    dx1, dx2, sx = x[1] - x[2], x[3] - x[2], x[0] - x[1] + x[2] - x[3]
    dy1, dy2, sy = y[1] - y[2], y[3] - y[2], y[0] - y[1] + y[2] - y[3]
    bottom = dx1 * dy2 - dx2 * dy1
    g, h = (sx * dy2 - dx2 * sy) / bottom, (dx1 * sy - sx * dy1) / bottom
    entries = [x[1] - x[0] + g * x[1], x[3] - x[0] + h * x[3], x[0]]
    entries += [y[1] - y[0] + g * y[1], y[3] - y[0] + h * y[3], y[0], g, h, np.ones_like(g)]
    return np.stack(entries, -1).reshape(*corners.shape[:-2], 3, 3)
