"""Where four squares of a sheet meet, by the four edges that run there."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.chart import Chart
from overruler.errors import CannotMeasure
from overruler.geometry.pose import Array
from overruler.vision.calibrators.sheet_warp import SheetWarp
from overruler.vision.imaging.subpixel_edges import SLOPE_WINDOW_SIGMA_PX, Floats, edge_offsets
from overruler.vision.markers.marker_fit import SMOOTHING_SIGMA_PX
from overruler.vision.markers.square_fit import tukey_weights

ARM_START, ARM_END, STATIONS_PER_ARM = 0.12, 0.46, 8
"""Where each arm of a corner is measured, in squares from it, and at how many places."""
CORNER_CLEARANCE_PX = 2.0
"""Nearer to the corner than this the other edge blurs in."""
MIN_REACH_PX = 1.5
"""However small the squares, edges are looked for at least so far from where they are expected."""
EDGE_SHIFT_SIGMA_PX, PROFILE_SIGMA_PX = 0.3, 0.1
"""1 σ of how far edges lie towards their dark side, and of one profile's edge, beforehand."""
UNINFORMATIVE_WEIGHT = 1e-8
"""The weight of knowing nothing."""
MIN_CORNER_SIGMA_PX, MIN_PROFILE_SIGMA_PX = 0.015, 0.01
"""No corner is surer than this along any axis, as neighbouring profiles see the same noise; no profile than that."""
MIN_PROFILES_PER_ARM, MIN_ARMS = 3, 3
"""Profiles that an arm must show, and arms that a corner must have."""
MIN_STEEPNESS_SHARE = 0.25
"""An edge less steep than this share of the sheet's median one is none."""
MIN_SQUARE_PX = 10.0
"""Side of a square as seen, below which its edges run into one another."""
BRIGHTNESS_OFFSET_SQUARES = 0.08
"""How far along a square's diagonal its own brightness is looked at, in squares: short of any marker."""
ARM_DIRECTIONS = np.array([(1, 0), (0, -1), (-1, 0), (0, 1)], float)
"""The arms: right, down, left, up on the sheet."""
IS_HORIZONTAL_ARM = np.array([1.0, 0.0, 1.0, 0.0])[:, None]
"""Which arms lie on the level line."""


@dataclass(frozen=True, slots=True, eq=False)
class _ArmStations:
    """The places where the edges at N corners are measured: four arms each, S places on an arm."""

    xy_px: Array
    """(N, 4, S, 2)."""
    normal_px: Array
    """(N, 4, S, 2): from dark to bright."""
    along: Array
    """(N, 4, S): how far from the corner, in squares, to the right or down."""


class CornerRefiner:
    """The corners near places (N, 2) of a sheet, in a smoothed picture (H, W), by where they are expected.

    `CannotMeasure` where the sheet is too small in the picture, or shows no edges.
    """

    def __init__(self, grey: Floats, chart: Chart, where: SheetWarp, mm: Array) -> None:
        self.grey, self.where, self.mm, self.square_mm = grey, where, mm, chart.square_mm
        sides = [
            np.linalg.norm(where(mm + way / 2) - where(mm - way / 2), axis=1)
            for way in ARM_DIRECTIONS[:2]
        ]
        self.sides_px: Array = np.min(sides, 0) * chart.square_mm
        if self.side_px < MIN_SQUARE_PX:
            raise CannotMeasure(
                f"the sheet is too small in the picture, {self.side_px:.0f} px a square: go closer"
            )
        black = np.where(np.round(mm / chart.square_mm).astype(int).sum(1) % 2 == 0, 1.0, -1.0)
        step = self._signed_contrasts(black)
        # a plain chessboard may be seen turned by a quarter, its colours the other way round
        self.black = black * (np.sign(np.median(step)) or 1.0)
        """(N,): 1 where the square to a corner's upper left is black, -1 where it is white."""
        self.contrast = float(np.median(np.abs(step)))
        self.blur_px = 0.0
        """1 σ of the Gaussian that would blur a sharp edge as much, along the worse axis; known once measured."""

    @property
    def side_px(self) -> float:
        """The typical side of a square as seen, the shorter one."""
        return float(np.median(self.sides_px))

    def reach_px(self, reach: float) -> float:
        """How far from where it is expected an edge is looked for, given in squares."""
        return max(reach * self.side_px, MIN_REACH_PX)

    def measure_corners(self, reach: float) -> tuple[Array, Array]:
        """The corners (N, 2), NaN where too little is seen, and their covariance (N, 2, 2)."""
        arms, reach_px = self._place_stations(), self.reach_px(reach)
        flat, normals = arms.xy_px.reshape(-1, 2), arms.normal_px.reshape(-1, 2)
        offset, steep = (
            v.reshape(arms.along.shape) for v in edge_offsets(self.grey, flat, normals, reach_px)
        )
        found = np.isfinite(offset)
        if not found.any():
            raise CannotMeasure("the sheet's edges cannot be seen; more light, or a sharper photo")
        found &= (steep > MIN_STEEPNESS_SHARE * np.median(steep[found])) & self._inside_picture(
            arms.xy_px, reach_px + 2
        )
        self.blur_px = self._estimate_blur_px(steep, found)
        shift, covariance = _solve_corner_shifts(
            arms, np.where(found, offset, 0.0), found.astype(float)
        )
        return self.where(self.mm) + shift, covariance

    def _inside_picture(self, px: Array, margin_px: float) -> NDArray[np.bool_]:
        limit = np.array(self.grey.shape[::-1]) - 1 - margin_px
        return np.asarray(((px > margin_px) & (px < limit)).all(-1))

    def _signed_contrasts(self, black: Array) -> Array:
        """(N,): how much brighter a corner's white squares are, where `black` says which they are."""
        diagonal = (
            BRIGHTNESS_OFFSET_SQUARES
            * self.square_mm
            * np.array([(-1, 1), (1, -1), (1, 1), (-1, -1)])
        )
        at = self.where(self.mm[:, None] + diagonal).astype(np.float32)
        values = np.asarray(cv2.remap(self.grey, at[..., 0], at[..., 1], cv2.INTER_LINEAR), float)
        return np.asarray((values[:, 2:].sum(1) - values[:, :2].sum(1)) / 2 * black)

    def _place_stations(self) -> _ArmStations:
        start = np.clip(CORNER_CLEARANCE_PX / self.sides_px, ARM_START, ARM_END - 0.1)
        share = start[:, None] + np.linspace(0, 1, STATIONS_PER_ARM) * (ARM_END - start[:, None])
        places = (
            self.mm[:, None, None]
            + share[:, None, :, None] * ARM_DIRECTIONS[:, None] * self.square_mm
        )
        along = ARM_DIRECTIONS[:, None] * 0.05 * self.square_mm
        across = np.stack([-along[..., 1], along[..., 0]], -1)  # to the left of the way
        xy, tangent = self.where(places), self.where(places + along) - self.where(places - along)
        normal = np.stack([tangent[..., 1], -tangent[..., 0]], -1)
        normal /= np.linalg.norm(normal, axis=-1, keepdims=True)
        # going right, the square to the left is the upper right one: bright where the upper left one is black
        bright = self.black[:, None] * np.array([1, -1, 1, -1])
        towards = (normal * (self.where(places + across) - xy)).sum(-1)
        normal *= (np.sign(towards) * bright[..., None])[..., None]
        return _ArmStations(xy, normal, share[:, None] * np.array([1, 1, -1, -1])[:, None])

    def _estimate_blur_px(self, steep: Array, found: NDArray[np.bool_]) -> float:
        """A step blurred by σ climbs by contrast / (σ √2π) a pixel at most; our own smoothing is taken out."""
        lines = [steep[:, line::2][found[:, line::2]] for line in (0, 1)]
        least = min((float(np.median(slopes)) for slopes in lines if len(slopes)), default=0.0)
        whole = self.contrast / (max(least, 1e-9) * np.sqrt(2 * np.pi))
        return float(np.sqrt(max(whole**2 - SMOOTHING_SIGMA_PX**2 - SLOPE_WINDOW_SIGMA_PX**2, 0.0)))


def _solve_corner_shifts(arms: _ArmStations, offset: Array, weight: Array) -> tuple[Array, Array]:
    """How far each corner lies from where it was expected (N, 2), NaN where unknown, and its covariance (N, 2, 2).

    Five unknowns a corner: its shift (2), the turns of its two lines, and the shift of edges towards their dark side.
    """
    enough = (weight > 0).sum(-1) >= MIN_PROFILES_PER_ARM
    known = (
        (enough[:, 0] | enough[:, 2]) & (enough[:, 1] | enough[:, 3]) & (enough.sum(1) >= MIN_ARMS)
    )
    rows, offset, weight = (
        _design_matrix(arms),
        offset.reshape(len(offset), -1),
        weight.reshape(len(weight), -1),
    )
    prior = np.diag([*[UNINFORMATIVE_WEIGHT] * 4, (PROFILE_SIGMA_PX / EDGE_SHIFT_SIGMA_PX) ** 2])
    for _ in range(4):
        information = np.einsum("nki,nk,nkj->nij", rows, weight, rows) + prior
        state = np.linalg.solve(
            information, np.einsum("nki,nk,nk->ni", rows, weight, offset)[..., None]
        )
        residual = offset - (rows @ state)[..., 0]
        spread = max(1.4826 * float(np.median(np.abs(residual[weight > 0]))), MIN_PROFILE_SIGMA_PX)
        weight = (weight > 0) * tukey_weights(residual / spread)
    own = np.sum(weight * residual**2, 1) / np.maximum(weight.sum(1) - rows.shape[-1], 1.0)
    variance = (
        own + spread**2
    ) / 2  # a corner's own scatter is too few numbers to be believed alone
    covariance = np.linalg.inv(information)[:, :2, :2] * variance[
        :, None, None
    ] + MIN_CORNER_SIGMA_PX**2 * np.eye(2)
    return np.where(known[:, None], state[:, :2, 0], np.nan), covariance


def _design_matrix(arms: _ArmStations) -> Array:
    """(N, 4 S, 5): how each edge's offset along its normal changes with the unknowns of its corner."""
    n = arms.normal_px
    one_way = np.sign(
        (n * n[:, [0, 1, 0, 1], :1]).sum(-1)
    )  # normals swap sides from arm to arm of one line
    turn = arms.along * one_way
    columns = [
        n[..., 0],
        n[..., 1],
        turn * IS_HORIZONTAL_ARM,
        turn * (1 - IS_HORIZONTAL_ARM),
        -np.ones_like(turn),
    ]
    return np.stack(columns, -1).reshape(len(n), -1, 5)
