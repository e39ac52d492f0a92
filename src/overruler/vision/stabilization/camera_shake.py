"""How a camera that shakes has turned and shifted since the table was measured, and the pictures without that.

A long arm over a table sways by pixels when somebody leans on the table. The markers tell the step
of the camera's pose, by least squares with a prior, for few markers may be in view. The table is
flat: a homography takes the picture back to how it was at rest.
"""

from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.frame import PixelBox, Shot
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.lens import LENS_SIZE

MAX_SHIFT_PX = 12.0
"""Median shift of the markers beyond which the camera does not shake: it was moved, in pixels.

Farther off, what is drawn on a live picture would lie beside the pieces."""
STILL_PX = 0.1
"""Median shift of the markers up to which a camera stands still, in pixels: their noise is a fifth of it."""
SHIFT_SIGMA_PX = 0.1
"""1 σ of the shift of one marker, in pixels; a marker that is off by more counts less (Cauchy)."""
TURN_SIGMA_RAD = 0.01
"""1 σ of a camera's turn about each axis, before its markers are seen, in radians."""
SHIFT_SIGMA_MM = 5.0
"""1 σ of its shift along each axis, in mm."""
REWEIGHTINGS = 4
"""Number of weighted fits of a step."""
COARSE_PX = 4
"""Side of a pixel of the picture in which a jump of the camera is sought, in pixels."""
MARGIN_MM = 50.0
"""Margin round the board of the points that the homography maps, in mm."""
GRID = 3
"""Number of these points along either side."""
MARGIN_PX = 3
"""Margin of the pixels that an interpolation needs."""


@dataclass(frozen=True, slots=True, eq=False)
class ShakeModel:
    """The effect of a step of a camera's pose (6,) on M markers and on the table.

    A step is a rotation vector in radians, then a shift in mm, as in `Pose.moved`."""

    camera: Camera
    """At rest."""
    points_mm: Array
    """(M + 9, 3): the markers' centres, and points all over the table."""
    rest_px: Array
    """(M + 9, 2): these at rest."""
    by_step: Array
    """(M, 2, 6): derivatives of the markers' pixels by the step, at rest."""

    @classmethod
    def of(cls, camera: Camera, markers_px: Array, board_mm: tuple[float, float]) -> "ShakeModel":
        """The model of a camera, for markers about some pixels (M, 2) flat on the board."""
        x, y = (np.linspace(-MARGIN_MM, size + MARGIN_MM, GRID) for size in board_mm)
        grid = np.stack(np.meshgrid(x, y), -1).reshape(-1, 2)
        points = np.pad(np.vstack([camera.unproject(markers_px), grid]), ((0, 0), (0, 1)))
        pixels, _, by_parameters = camera.project_with_jacobians(points)
        return cls(camera, points, pixels, by_parameters[: -len(grid), :, LENS_SIZE:])

    def marker_shifts_px(self, step: Array) -> Array:
        """(M, 2): the shifts of the markers in the picture after a step (6,)."""
        return self.shifts_px(step)[: len(self.by_step)]

    def shifts_px(self, step: Array) -> Array:
        """(M + 9, 2): the shifts of the points in the picture after a step (6,)."""
        if not step.any():
            return np.zeros_like(self.rest_px)
        moved = self.camera.moved(np.concatenate([np.zeros(LENS_SIZE), step]))
        return np.asarray(moved.project(self.points_mm) - self.rest_px)

    def fit(self, shifts_px: Array, start: Array) -> Array:
        """The step (6,) nearer than `start` to what the shifts (M, 2) tell; NaN for hidden markers.

        One step of Gauss and Newton with a Gaussian prior, in which markers that are off count less.
        """
        seen = ~np.isnan(shifts_px[:, 0])
        rows = self.by_step[seen]
        wanted = (shifts_px - self.marker_shifts_px(start))[seen]
        prior = np.array([TURN_SIGMA_RAD] * 3 + [SHIFT_SIGMA_MM] * 3) ** -2.0
        weights = np.ones(len(rows))
        change = np.zeros(6)
        for _ in range(REWEIGHTINGS):
            weighted = rows * (weights / SHIFT_SIGMA_PX**2)[:, None, None]
            normal = np.einsum("mki,mkj->ij", weighted, rows) + np.diag(prior)
            right = np.einsum("mki,mk->i", weighted, wanted) - prior * start
            change = np.linalg.solve(normal, right)
            off = np.hypot(*(wanted - rows @ change).T) / SHIFT_SIGMA_PX
            weights = 1 / (1 + off**2)
        return start + change

    def homography(self, step: Array) -> Array:
        """(3, 3): from pixels at rest to pixels after a step (6,), on the table."""
        rest = self.rest_px[len(self.by_step) :]
        now = rest + self.shifts_px(step)[len(self.by_step) :]
        return np.asarray(cv2.findHomography(rest, now)[0])


@dataclass(frozen=True, slots=True, eq=False)
class CoarseLook:
    """A picture at low resolution, which tells by how much another one is shifted as a whole."""

    grey: NDArray[np.float32]
    window: NDArray[np.float32]
    """(H, W): weights that fade towards the edges."""

    @classmethod
    def of(cls, grey: NDArray[np.uint8]) -> "CoarseLook":
        coarse = _coarse(grey)
        size = coarse.shape[1], coarse.shape[0]
        return cls(coarse, np.asarray(cv2.createHanningWindow(size, cv2.CV_32F), np.float32))

    def shift_px(self, grey: NDArray[np.uint8]) -> Array:
        """The shift (2,) of another picture of the same size, by phase correlation."""
        shift, _ = cv2.phaseCorrelate(self.grey, _coarse(grey), self.window)
        return COARSE_PX * np.array(shift)


def _coarse(grey: NDArray[np.uint8]) -> NDArray[np.float32]:
    size = max(grey.shape[1] // COARSE_PX, 2), max(grey.shape[0] // COARSE_PX, 2)
    return np.asarray(cv2.resize(grey, size, interpolation=cv2.INTER_AREA), np.float32)


def as_at_rest(shot: Shot, homography: Array) -> Shot:
    """The shot as the camera at rest would have taken it; `homography` maps rest to this shot."""
    grey = _warp(shot.grey, homography, shot.size_px, cv2.INTER_LINEAR)

    def colours(box: PixelBox | None) -> NDArray[np.uint8]:
        wanted = box or (0, 0, *shot.size_px)
        source = _source_box(wanted, homography, shot.size_px)
        to_corner = np.eye(3)
        to_corner[:2, 2] = wanted[:2]
        to_source = np.eye(3)
        to_source[:2, 2] = np.negative(source[:2])
        size = wanted[2] - wanted[0], wanted[3] - wanted[1]
        pixels = shot.colours(source)
        return _warp(pixels, to_source @ homography @ to_corner, size, cv2.INTER_CUBIC)

    return replace(shot, grey=grey, colours=colours)


def _source_box(box: PixelBox, homography: Array, size_px: tuple[int, int]) -> PixelBox:
    """The pixels of the shot that a box of the picture at rest needs."""
    left, top, right, bottom = box
    corners = np.array([[(left, top), (right, top), (right, bottom), (left, bottom)]], float)
    there = cv2.perspectiveTransform(corners, homography)[0]
    low = np.floor(there.min(0)).astype(int) - MARGIN_PX
    high = np.ceil(there.max(0)).astype(int) + MARGIN_PX
    u0, v0 = np.clip(low, 0, np.array(size_px) - 1).tolist()
    u1, v1 = np.clip(high, (u0 + 1, v0 + 1), size_px).tolist()
    return u0, v0, u1, v1


def _warp(
    pixels: NDArray[np.uint8], matrix: Array, size: tuple[int, int], interpolation: int
) -> NDArray[np.uint8]:
    flags = interpolation | cv2.WARP_INVERSE_MAP
    return np.asarray(
        cv2.warpPerspective(
            np.ascontiguousarray(pixels), matrix, size, flags=flags, borderMode=cv2.BORDER_REPLICATE
        ),
        np.uint8,
    )
