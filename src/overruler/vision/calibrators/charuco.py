"""The corners of a calibration sheet in a photo: where four squares meet, by the edges that run there.

OpenCV reads the markers' ids. The corners are our own: the crossing of two lines, each measured on both sides of it.
Edges move towards their dark side with the tone curve and the softness of a photo; where four squares meet the dark
side changes with every arm, so that the crossing stays.
"""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.chart import Chart
from overruler.errors import CannotMeasure
from overruler.frame import Frame
from overruler.geometry.pose import Array
from overruler.vision.calibrators.corner_refine import CornerRefiner
from overruler.vision.calibrators.sheet_warp import SheetWarp
from overruler.vision.imaging.subpixel_edges import Floats
from overruler.vision.markers.detect import DETECTION_SIDE_PX, ERROR_CORRECTION
from overruler.vision.markers.marker_fit import SMOOTHING_SIGMA_PX

MIN_MARKERS, MIN_CORNERS = 3, 12
"""What must be seen of a sheet."""
SEARCH_REACHES_SQUARES = (0.16, 0.1, 0.08)
"""How far from where it is expected an edge is looked for, in squares, look after look."""
BORDER_MARGIN_PX = 4.0
"""No corner is measured nearer to the picture's edge."""
OUTLIER_RATIO, MIN_TYPICAL_RESIDUAL_PX = 6.0, 0.05
"""A corner this many times farther off than the typical one lies elsewhere: under a finger, on a reflection. None is
typically nearer than this."""
MAX_BLUR_PX, MAX_BLUR_SQUARES = 3.0, 0.1
"""Blur, 1 σ, beyond which a photo is of no use: in px, and in squares."""


@dataclass(frozen=True, slots=True, eq=False)
class ChartCorners:
    """A sheet as one photo shows it."""

    xyz_mm: Array
    """(N, 3): the corners in the sheet's own frame."""
    xy_px: Array
    """(N, 2): where they are seen."""
    covariance_px2: Array
    """(N, 2, 2)."""
    blur_px: float
    """1 σ of the Gaussian that would blur a sharp edge as much, along the worse axis."""

    def select_corners(self, good: NDArray[np.bool_]) -> "ChartCorners":
        """Only the corners that are good (N,)."""
        return ChartCorners(
            self.xyz_mm[good], self.xy_px[good], self.covariance_px2[good], self.blur_px
        )

    def in_stored_pixels(self, frame: Frame) -> "ChartCorners":
        """The same in the pixels before the EXIF orientation was applied, which a lens file speaks of.

        `CannotMeasure` for a mirrored photo: no camera sees the sheet like that.
        """
        if frame.orientation not in EXIF_INVERSE_ROTATIONS:
            raise CannotMeasure(
                f"is stored mirrored (EXIF orientation {frame.orientation}); save it upright first"
            )
        turn, middle = (
            np.array(EXIF_INVERSE_ROTATIONS[frame.orientation], float),
            (np.array(frame.size_px) - 1) / 2,
        )
        xy_px = (self.xy_px - middle) @ turn.T + np.abs(turn) @ middle
        return ChartCorners(self.xyz_mm, xy_px, turn @ self.covariance_px2 @ turn.T, self.blur_px)


EXIF_INVERSE_ROTATIONS = {
    1: ((1, 0), (0, 1)),
    3: ((-1, 0), (0, -1)),
    6: ((0, 1), (-1, 0)),
    8: ((0, -1), (1, 0)),
}
"""What undoes each EXIF orientation that turns, as a matrix on (u, v) about the picture's middle."""


def stored_size_px(frame: Frame) -> tuple[int, int]:
    """Width and height before the EXIF orientation was applied."""
    width, height = frame.size_px
    return (height, width) if frame.orientation >= 5 else (width, height)


def find_chart(frame: Frame, chart: Chart) -> ChartCorners:
    """The sheet's corners in a photo; `CannotMeasure` says why it shows too little of it."""
    grey = np.asarray(cv2.cvtColor(frame.pixels, cv2.COLOR_BGR2GRAY), np.uint8)
    seen_mm, seen_px = (
        _locate_chessboard(grey, chart) if chart.marker_mm is None else _locate_markers(grey, chart)
    )
    smooth = np.asarray(
        cv2.GaussianBlur(grey.astype(np.float32), (0, 0), SMOOTHING_SIGMA_PX), np.float32
    )
    sighting = _refine_corners(smooth, chart, SheetWarp.fit(seen_mm, seen_px, grey.shape), seen_mm)
    if len(sighting.xy_px) < MIN_CORNERS:
        few = f"only {len(sighting.xy_px)} corners of the sheet are seen, {MIN_CORNERS} are needed"
        raise CannotMeasure(f"{few}: have all of it in the picture, flat")
    return sighting


# --- a first look ---


def _locate_markers(grey: NDArray[np.uint8], chart: Chart) -> tuple[Array, Array]:
    """The corners of the sheet's markers: places (4 M, 2) in mm and pixels (4 M, 2)."""
    places = chart.markers_mm
    found = _detect_aruco(grey, chart.dictionary, min(1.0, DETECTION_SIDE_PX / max(grey.shape)))
    if max(grey.shape) > DETECTION_SIDE_PX and len(
        [number for number in found if number in places]
    ) < len(places):
        found = (
            _detect_aruco(grey, chart.dictionary, min(1.0, 2 * DETECTION_SIDE_PX / max(grey.shape)))
            | found
        )
    known = [number for number in found if number in places]
    if len(known) < MIN_MARKERS:
        what = (
            f"only {len(known)} markers of the sheet are" if known else "no marker of the sheet is"
        )
        raise CannotMeasure(
            f"{what} seen; is it the sheet that was printed, sharp and large in the picture?"
        )
    mm = np.concatenate([places[number][:, :2] for number in known])
    px = np.concatenate([found[number] for number in known])
    _, good = cv2.findHomography(
        mm, px, cv2.RANSAC, 0.5 * _median_side_px([found[number] for number in known])
    )
    kept = np.ravel(good).astype(bool) if good is not None else np.zeros(len(mm), bool)
    if kept.sum() < 4 * MIN_MARKERS:
        raise CannotMeasure(
            "the sheet's markers do not lie as they were printed; is it the sheet that was named?"
        )
    return mm[kept], px[kept]


def _detect_aruco(grey: NDArray[np.uint8], dictionary: str, scale: float) -> dict[int, Array]:
    """Each marker's corners (4, 2), read at a reduced size."""
    height, width = grey.shape
    size = round(width * scale), round(height * scale)
    small = cv2.resize(grey, size, interpolation=cv2.INTER_AREA) if scale < 1 else grey
    parameters = cv2.aruco.DetectorParameters()
    parameters.errorCorrectionRate = ERROR_CORRECTION
    family = cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, dictionary))
    corners, ids, _ = cv2.aruco.ArucoDetector(family, parameters).detectMarkers(small)
    if ids is None:
        return {}
    ratio = np.array([width / size[0], height / size[1]])
    quads = [(np.reshape(quad, (4, 2)).astype(float) + 0.5) * ratio - 0.5 for quad in corners]
    return {int(number): quad for number, quad in zip(np.reshape(ids, -1), quads, strict=True)}


def _median_side_px(quads: list[Array]) -> float:
    return float(
        np.median([np.linalg.norm(quad - np.roll(quad, 1, 0), axis=1).mean() for quad in quads])
    )


def _locate_chessboard(grey: NDArray[np.uint8], chart: Chart) -> tuple[Array, Array]:
    """The corners of a plain chessboard, all of which must be seen: places (N, 2) in mm and pixels (N, 2)."""
    pattern = (chart.columns - 1, chart.rows - 1)
    scale = min(1.0, DETECTION_SIDE_PX / max(grey.shape))
    size = round(grey.shape[1] * scale), round(grey.shape[0] * scale)
    small = cv2.resize(grey, size, interpolation=cv2.INTER_AREA) if scale < 1 else grey
    found, corners = cv2.findChessboardCornersSB(small, pattern, flags=cv2.CALIB_CB_NORMALIZE_IMAGE)
    if not found or corners is None:
        inner = f"{pattern[0]} × {pattern[1]} inner corners"
        raise CannotMeasure(f"no chessboard of {inner} is seen; it must be whole, flat and sharp")
    ratio = np.array([grey.shape[1] / size[0], grey.shape[0] / size[1]])
    return chart.corners_mm[:, :2], (np.reshape(corners, (-1, 2)).astype(float) + 0.5) * ratio - 0.5


# --- look after look ---


def _refine_corners(grey: Floats, chart: Chart, first: SheetWarp, seen_mm: Array) -> ChartCorners:
    """The corners near what was seen, each measured by its edges."""
    mm, where, blur_px = _corners_near(chart, seen_mm), first, 0.0
    mm = mm[_inside_picture(where(mm), grey.shape)]
    for reach in SEARCH_REACHES_SQUARES:
        if len(mm) < MIN_CORNERS:
            raise CannotMeasure(_too_blurred_message(blur_px, len(mm)))
        crossings = CornerRefiner(grey, chart, where, mm)
        px, covariance = crossings.measure_corners(reach)
        near_px = 1.5 * crossings.reach_px(reach)
        good = np.linalg.norm(px - where(mm), axis=1) < near_px  # never so where there is none
        if good.sum() < MIN_CORNERS:
            raise CannotMeasure(_too_blurred_message(blur_px, int(good.sum())))
        blur_px, where = crossings.blur_px, SheetWarp.fit(mm[good], px[good], grey.shape)
        off = np.linalg.norm(px - where(mm), axis=1)
        good &= off < OUTLIER_RATIO * max(float(np.median(off[good])), MIN_TYPICAL_RESIDUAL_PX)
        mm, px, covariance = mm[good], px[good], covariance[good]
    if blur_px > min(MAX_BLUR_PX, MAX_BLUR_SQUARES * crossings.side_px):
        raise CannotMeasure(_too_blurred_message(blur_px, len(mm)))
    return ChartCorners(np.column_stack([mm, np.zeros(len(mm))]), px, covariance, blur_px)


def _too_blurred_message(blur_px: float, corners: int) -> str:
    if blur_px > 1:
        return (
            f"blurred over {2 * blur_px:.0f} px: hold still, focus on the sheet, and use more light"
        )
    return f"only {corners} corners of the sheet can be measured, {MIN_CORNERS} are needed: show more of it"


def _corners_near(chart: Chart, seen_mm: Array) -> Array:
    """The sheet's corners (N, 2) with something that was seen within three quarters of a square."""
    corners = chart.corners_mm[:, :2]
    apart: Array = np.abs(corners[:, None] - seen_mm).max(-1).min(1)
    return corners[apart < 0.75 * chart.square_mm]


def _inside_picture(px: Array, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Which pixels (N, 2) keep off the edge of a picture (H, W)."""
    limit = np.array([shape[1], shape[0]]) - 1 - BORDER_MARGIN_PX
    return np.asarray(((px > BORDER_MARGIN_PX) & (px < limit)).all(-1))
