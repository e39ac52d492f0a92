"""Sub-pixel corners of a calibration sheet: the crossing of the two edges through each."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.chart import Chart
from overruler.errors import CannotMeasure
from overruler.geometry.batched.vectors import left_normals, right_normals
from overruler.geometry.pose import Array
from overruler.vision.calibrators.sheet_warp import SheetWarp
from overruler.vision.imaging.subpixel_edges import SLOPE_WINDOW_SIGMA_PX, Floats, edge_offsets
from overruler.vision.markers.marker_fit import SMOOTHING_SIGMA_PX
from overruler.vision.markers.square_solver import tukey_weights

ARM_START = 0.12
"""Start of the measured part of an edge from its corner, in squares."""
ARM_END = 0.46
"""End of the measured part of an edge from its corner, in squares."""
STATIONS_PER_ARM = 8
"""Number of profiles across an arm."""
CORNER_CLEARANCE_PX = 2.0
"""Distance from the corner within which the other edge blurs in."""
MIN_REACH_PX = 1.5
"""Smallest distance over which edges are searched for, however small the squares are."""
EDGE_SHIFT_SIGMA_PX = 0.3
"""Prior σ of the shift of edges towards their dark side."""
PROFILE_SIGMA_PX = 0.1
"""Prior σ of the edge in one profile."""
UNINFORMATIVE_WEIGHT = 1e-8
"""Prior weight of unknowns without a prior."""
MIN_CORNER_SIGMA_PX = 0.015
"""Smallest σ of a corner along any axis: neighbouring profiles share noise."""
MIN_PROFILE_SIGMA_PX = 0.01
"""Smallest σ of one profile."""
MIN_PROFILES_PER_ARM = 3
"""Smallest number of profiles of an arm."""
MIN_ARMS = 3
"""Smallest number of arms of a corner."""
MIN_STEEPNESS_SHARE = 0.25
"""An edge less steep than this share of the sheet's median one is rejected."""
SIGMA_PER_MAD = 1.4826
"""σ of a Gaussian in median absolute deviations."""
MIN_SQUARE_PX = 10.0
"""Side of a square in the photo below which its edges run into one another."""
BRIGHTNESS_OFFSET_SQUARES = 0.08
"""Offset along both sides of a square at which its brightness is sampled, short of any marker."""
ARM_DIRECTIONS = np.array([(1, 0), (0, -1), (-1, 0), (0, 1)], float)
"""Directions of the arms on the sheet: right, down, left, up."""
ALONG_SIGNS = np.array([1, 1, -1, -1])[:, None]
"""Sign of the coordinate along the line of each arm: positive to the right and down."""
IS_HORIZONTAL_ARM = np.array([1.0, 0.0, 1.0, 0.0])[:, None]
"""1 for arms on the horizontal line."""
BRIGHT_LEFT_SIGNS = np.array([1, -1, 1, -1])
"""1 for arms whose left side, seen from the corner, is bright if the upper left square is black."""
DIAGONALS = np.array([(-1, 1), (1, -1), (1, 1), (-1, -1)])
"""Directions to the four squares of a corner: upper left, lower right, upper right, lower left."""


@dataclass(frozen=True, slots=True, eq=False)
class _ArmStations:
    """The stations at which the edges at N corners are measured: four arms of S stations."""

    xy_px: Array
    """(N, 4, S, 2): pixels."""
    normal_px: Array
    """(N, 4, S, 2): unit normals of the edge, from dark to bright."""
    along: Array
    """(N, 4, S): coordinate along the line from the corner, in squares, to the right or down."""


class CornerRefiner:
    """Measures the corners of a sheet near expected places, in a smoothed picture (H, W).

    `CannotMeasure` if the sheet is too small in the picture, or shows no edges.
    """

    __slots__ = ("blur_px", "contrast", "dark_sign", "grey", "mm", "sides_px", "square_mm", "where")

    grey: Floats
    """(H, W): the smoothed picture."""
    where: SheetWarp
    """Warp from the sheet to the picture."""
    mm: Array
    """(N, 2): the corners on the sheet."""
    square_mm: float
    """Side of a square."""
    sides_px: Array
    """(N,): the shorter side of a square in the photo at each corner."""
    dark_sign: Array
    """(N,): 1 if the square to the upper left of a corner is black, -1 if it is white."""
    contrast: float
    """Brightness of white squares over black ones."""
    blur_px: float
    """Blur, 1 σ, along the worse axis; 0 until `measure_corners` has estimated it."""

    def __init__(self, grey: Floats, chart: Chart, where: SheetWarp, mm: Array) -> None:
        self.grey, self.where, self.mm, self.square_mm = grey, where, mm, chart.square_mm
        sides = [
            np.linalg.norm(where(mm + axis / 2) - where(mm - axis / 2), axis=1)
            for axis in ARM_DIRECTIONS[:2]
        ]
        self.sides_px = np.min(sides, 0) * chart.square_mm
        if self.side_px < MIN_SQUARE_PX:
            raise CannotMeasure(
                f"the sheet is too small in the picture, {self.side_px:.0f} px a square: go closer"
            )
        index = np.round(mm / chart.square_mm).astype(int)
        sign = np.where(index.sum(1) % 2 == 0, 1.0, -1.0)
        contrasts = self._signed_contrasts(sign)
        # a plain chessboard may be seen rotated by 90°, with its colours swapped
        self.dark_sign = sign * (np.sign(np.median(contrasts)) or 1.0)
        self.contrast = float(np.median(np.abs(contrasts)))
        self.blur_px = 0.0

    @property
    def side_px(self) -> float:
        """The median side of a square in the photo, the shorter one."""
        return float(np.median(self.sides_px))

    def reach_px(self, reach: float) -> float:
        """The distance over which edges are searched for, from one in squares."""
        return max(reach * self.side_px, MIN_REACH_PX)

    def measure_corners(self, reach: float) -> tuple[Array, Array]:
        """Corners (N, 2), NaN where too little is visible, and their covariances (N, 2, 2)."""
        arms, reach_px = self._place_stations(), self.reach_px(reach)
        xy_px, normals = arms.xy_px.reshape(-1, 2), arms.normal_px.reshape(-1, 2)
        offsets, slopes = edge_offsets(self.grey, xy_px, normals, reach_px)
        offset = offsets.reshape(arms.along.shape)
        steepness = slopes.reshape(arms.along.shape)
        found = np.isfinite(offset)
        if not found.any():
            raise CannotMeasure("the sheet's edges cannot be seen; more light, or a sharper photo")
        steep = steepness > MIN_STEEPNESS_SHARE * np.median(steepness[found])
        found &= steep & self._inside_picture(arms.xy_px, reach_px + 2)
        self.blur_px = self._estimate_blur_px(steepness, found)
        known_offset = np.where(found, offset, 0.0)
        shift, covariance = _solve_corner_shifts(arms, known_offset, found.astype(float))
        # edges are seen no farther away: a longer shift is an extrapolation
        shift[~(np.abs(shift).max(1) <= reach_px)] = np.nan
        return self.where(self.mm) + shift, covariance

    def _inside_picture(self, px: Array, margin_px: float) -> NDArray[np.bool_]:
        limit = np.array(self.grey.shape[::-1]) - 1 - margin_px
        return np.asarray(((px > margin_px) & (px < limit)).all(-1))

    def _signed_contrasts(self, sign: Array) -> Array:
        """(N,): white minus black squares at each corner; `sign` is 1 if the upper left is black."""
        diagonals = BRIGHTNESS_OFFSET_SQUARES * self.square_mm * DIAGONALS
        px = self.where(self.mm[:, None] + diagonals).astype(np.float32)
        sampled = cv2.remap(self.grey, px[..., 0], px[..., 1], cv2.INTER_LINEAR)
        values = np.asarray(sampled, float)
        difference = values[:, 2:].sum(1) - values[:, :2].sum(1)
        return np.asarray(difference / 2 * sign)

    def _place_stations(self) -> _ArmStations:
        start = np.clip(CORNER_CLEARANCE_PX / self.sides_px, ARM_START, ARM_END - 0.1)
        fractions = np.linspace(0, 1, STATIONS_PER_ARM)
        distance = start[:, None] + fractions * (ARM_END - start[:, None])
        offsets = distance[:, None, :, None] * ARM_DIRECTIONS[:, None] * self.square_mm
        places = self.mm[:, None, None] + offsets
        along = ARM_DIRECTIONS[:, None] * 0.05 * self.square_mm
        left = left_normals(along)
        xy = self.where(places)
        tangent = self.where(places + along) - self.where(places - along)
        normal = right_normals(tangent)
        normal /= np.linalg.norm(normal, axis=-1, keepdims=True)
        # to the right, the left square is the upper right one: bright if the upper left one is black
        bright = self.dark_sign[:, None] * BRIGHT_LEFT_SIGNS
        towards_left = (normal * (self.where(places + left) - xy)).sum(-1)
        normal *= (np.sign(towards_left) * bright[..., None])[..., None]
        return _ArmStations(xy, normal, distance[:, None] * ALONG_SIGNS)

    def _estimate_blur_px(self, steepness: Array, found: NDArray[np.bool_]) -> float:
        """The blur by the slope of edges, at most contrast / (σ √2π), without that of the smoothing."""
        medians = []
        for line in (0, 1):
            slopes = steepness[:, line::2][found[:, line::2]]
            if len(slopes):
                medians.append(float(np.median(slopes)))
        smallest = min(medians, default=0.0)
        blur = self.contrast / (max(smallest, 1e-9) * np.sqrt(2 * np.pi))
        variance = blur**2 - SMOOTHING_SIGMA_PX**2 - SLOPE_WINDOW_SIGMA_PX**2
        return float(np.sqrt(max(variance, 0.0)))


def _solve_corner_shifts(arms: _ArmStations, offset: Array, weight: Array) -> tuple[Array, Array]:
    """Deviations (N, 2) of the corners from their expected places, and covariances (N, 2, 2).

    A deviation is NaN where it is unknown. Each corner has five parameters: its shift (2), the
    rotations of its two lines, and the shift of edges towards their dark side.
    """
    known = _has_enough_profiles(weight)
    rows = _design_matrix(arms)
    offset, weight = offset.reshape(len(offset), -1), weight.reshape(len(weight), -1)
    edge_shift_weight = (PROFILE_SIGMA_PX / EDGE_SHIFT_SIGMA_PX) ** 2
    prior = np.diag([*[UNINFORMATIVE_WEIGHT] * 4, edge_shift_weight])
    for _ in range(4):
        information = np.einsum("nki,nk,nkj->nij", rows, weight, rows) + prior
        gradient = np.einsum("nki,nk,nk->ni", rows, weight, offset)[..., None]
        state = np.linalg.solve(information, gradient)
        residual = offset - (rows @ state)[..., 0]
        deviation = float(np.median(np.abs(residual[weight > 0])))
        spread = max(SIGMA_PER_MAD * deviation, MIN_PROFILE_SIGMA_PX)
        weight = (weight > 0) * tukey_weights(residual / spread)
    degrees_of_freedom = np.maximum(weight.sum(1) - rows.shape[-1], 1.0)
    own_variance = np.sum(weight * residual**2, 1) / degrees_of_freedom
    # one corner has too few profiles for its own variance alone
    variance = (own_variance + spread**2) / 2
    by_profiles = np.linalg.inv(information)[:, :2, :2] * variance[:, None, None]
    covariance = by_profiles + MIN_CORNER_SIGMA_PX**2 * np.eye(2)
    return np.where(known[:, None], state[:, :2, 0], np.nan), covariance


def _has_enough_profiles(weight: Array) -> NDArray[np.bool_]:
    """Which corners have enough arms, at least one on each line, by weights (N, 4, S)."""
    enough = (weight > 0).sum(-1) >= MIN_PROFILES_PER_ARM
    horizontal = enough[:, 0] | enough[:, 2]
    vertical = enough[:, 1] | enough[:, 3]
    return np.asarray(horizontal & vertical & (enough.sum(1) >= MIN_ARMS))


def _design_matrix(arms: _ArmStations) -> Array:
    """(N, 4 S, 5): Jacobian of each edge's offset along its normal by its corner's parameters."""
    normal = arms.normal_px
    # the normals of one line's two arms point to opposite sides
    side = np.sign((normal * normal[:, [0, 1, 0, 1], :1]).sum(-1))
    rotation = arms.along * side
    columns = [
        normal[..., 0],
        normal[..., 1],
        rotation * IS_HORIZONTAL_ARM,
        rotation * (1 - IS_HORIZONTAL_ARM),
        -np.ones_like(rotation),
    ]
    return np.stack(columns, -1).reshape(len(normal), -1, 5)
