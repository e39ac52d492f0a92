"""Detection of a calibration sheet in a photo: ChArUco or chessboard, with sub-pixel corners.

OpenCV reads the markers' ids. A corner is the crossing of two lines, each measured on both sides of
it. The tone curve and the softness of a photo shift edges towards their dark side. At a corner,
where four squares meet, the dark side alternates from arm to arm, so the crossing stays in place.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.chart import Chart
from overruler.errors import CannotMeasure
from overruler.frame import Frame
from overruler.geometry.pose import Array
from overruler.units import format_count
from overruler.vision.calibrators.corner_refine import CornerRefiner
from overruler.vision.calibrators.sheet_warp import SheetWarp
from overruler.vision.imaging.subpixel_edges import Floats
from overruler.vision.markers.detect import ERROR_CORRECTION
from overruler.vision.markers.looks import DETECTION_SIDE_PX
from overruler.vision.markers.marker_fit import SMOOTHING_SIGMA_PX

MIN_MARKERS = 3
"""Smallest number of the sheet's markers in a photo."""
MIN_AGREEING_SHARE = 0.5
"""Smallest share of the seen markers' corners that lie as printed.

Some in line do so on a sheet with another count of squares, too: two fifths at most."""
MIN_CORNERS = 12
"""Smallest number of the sheet's corners in a photo."""
SEARCH_REACHES_SQUARES = (0.16, 0.1, 0.08)
"""Distance over which an edge is searched for, in squares, by round."""
BORDER_MARGIN_PX = 4.0
"""Smallest distance of a corner from the picture's edge."""
OUTLIER_RATIO = 6.0
"""An outlier's residual in median ones: a corner under a finger or on a reflection."""
MIN_TYPICAL_RESIDUAL_PX = 0.05
"""Lower limit of that median."""
MAX_BLUR_PX = 3.0
"""Blur, 1 σ in px, beyond which a photo is useless."""
MAX_BLUR_SQUARES = 0.1
"""The same in squares; the smaller of the two counts."""
EXIF_INVERSE_ROTATIONS = {
    1: ((1, 0), (0, 1)),
    3: ((-1, 0), (0, -1)),
    6: ((0, 1), (-1, 0)),
    8: ((0, -1), (1, 0)),
}
"""Matrices on (u, v) about the picture's centre that undo the EXIF orientations that rotate."""


@dataclass(frozen=True, slots=True, eq=False)
class ChartCorners:
    """The N corners of a sheet in one photo."""

    xyz_mm: Array
    """(N, 3): the corners in the sheet's frame."""
    xy_px: Array
    """(N, 2): the corners in the photo."""
    covariance_px2: Array
    """(N, 2, 2): covariance of each corner in the photo."""
    blur_px: float
    """1 σ of the Gaussian that would blur a sharp edge as much, along the worse axis."""

    def select_corners(self, good: NDArray[np.bool_]) -> "ChartCorners":
        """Keep the corners in a mask (N,)."""
        return ChartCorners(
            self.xyz_mm[good], self.xy_px[good], self.covariance_px2[good], self.blur_px
        )

    def in_stored_pixels(self, frame: Frame) -> "ChartCorners":
        """The corners in the stored photo's pixels, before the EXIF rotation, as lens files need them.

        `CannotMeasure` for a mirrored photo, which no camera takes.
        """
        if frame.orientation not in EXIF_INVERSE_ROTATIONS:
            raise CannotMeasure(
                f"is stored mirrored (EXIF orientation {frame.orientation}); save it upright first"
            )
        rotation = np.array(EXIF_INVERSE_ROTATIONS[frame.orientation], float)
        centre = (np.array(frame.size_px) - 1) / 2
        xy_px = (self.xy_px - centre) @ rotation.T + np.abs(rotation) @ centre
        covariance = rotation @ self.covariance_px2 @ rotation.T
        return ChartCorners(self.xyz_mm, xy_px, covariance, self.blur_px)


def stored_size_px(frame: Frame) -> tuple[int, int]:
    """Width and height of the stored photo, before the EXIF rotation."""
    width, height = frame.size_px
    return (height, width) if frame.orientation >= 5 else (width, height)


def find_chart(frame: Frame, chart: Chart) -> ChartCorners:
    """Find the sheet's corners in a photo; `CannotMeasure` says why too few are visible."""
    grey = np.asarray(cv2.cvtColor(frame.pixels, cv2.COLOR_BGR2GRAY), np.uint8)
    locate = _locate_chessboard if chart.marker_mm is None else _locate_markers
    seen_mm, seen_px = locate(grey, chart)
    smoothed = cv2.GaussianBlur(grey.astype(np.float32), (0, 0), SMOOTHING_SIGMA_PX)
    warp = SheetWarp.fit(seen_mm, seen_px, grey.shape)
    corners = _refine_corners(np.asarray(smoothed, np.float32), chart, warp, seen_mm)
    count = len(corners.xy_px)
    if count < MIN_CORNERS:
        few = f"only {format_count(count, 'corner')} of the sheet can be seen, {MIN_CORNERS} are needed"
        raise CannotMeasure(f"{few}: have all of it in the picture, flat")
    return corners


# --- detection ---


def _locate_markers(grey: NDArray[np.uint8], chart: Chart) -> tuple[Array, Array]:
    """The corners of M markers of the sheet: places (4 M, 2) in mm and pixels (4 M, 2)."""
    places = chart.markers_mm
    found = _detect_markers(grey, chart)
    known = [number for number in found if number in places]
    if len(known) < MIN_MARKERS:
        few = "no marker of the sheet is seen"
        if known:
            few = f"only {format_count(len(known), 'marker')} of the sheet can be seen"
        question = "is it the sheet that was printed, sharp and large in the picture?"
        raise CannotMeasure(f"{few}; {question}")
    mm, px, good = _agreeing_corners(chart, found)
    if _lie_as_printed(good):
        return mm[good], px[good]
    exchanged = replace(chart, columns=chart.rows, rows=chart.columns)
    if _lie_as_printed(_agreeing_corners(exchanged, found)[2]):
        named, seen = (f"{sheet.columns}x{sheet.rows}" for sheet in (chart, exchanged))
        raise CannotMeasure(
            f"the sheet looks like one of {seen} squares, not {named}: give --charuco {seen}"
        )
    raise CannotMeasure(
        "the sheet's markers do not lie as they were printed; is it the sheet that was named?"
    )


def _agreeing_corners(
    chart: Chart, found: Mapping[int, Array]
) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Places (4 M, 2) in mm and pixels (4 M, 2) of the sheet's markers, and which lie as printed."""
    places = chart.markers_mm
    known = [number for number in found if number in places]
    mm = np.concatenate([places[number][:, :2] for number in known])
    px = np.concatenate([found[number] for number in known])
    limit_px = 0.5 * _median_side_px([found[number] for number in known])
    _, mask = cv2.findHomography(mm, px, cv2.RANSAC, limit_px)
    good = np.ravel(mask).astype(bool) if mask is not None else np.zeros(len(mm), bool)
    return mm, px, good


def _lie_as_printed(good: NDArray[np.bool_]) -> bool:
    return bool(good.sum() >= max(4 * MIN_MARKERS, MIN_AGREEING_SHARE * len(good)))


def _detect_markers(grey: NDArray[np.uint8], chart: Chart) -> dict[int, Array]:
    """Each marker's corners (4, 2) by id: at a reduced size, and at twice that if some are missing."""
    longer = max(grey.shape)
    found = _detect_aruco(grey, chart.dictionary, min(1.0, DETECTION_SIDE_PX / longer))
    known_count = len([number for number in found if number in chart.markers_mm])
    if longer > DETECTION_SIDE_PX and known_count < len(chart.markers_mm):
        scale = min(1.0, 2 * DETECTION_SIDE_PX / longer)
        found = _detect_aruco(grey, chart.dictionary, scale) | found
    return found


def _detect_aruco(grey: NDArray[np.uint8], dictionary: str, scale: float) -> dict[int, Array]:
    """Each marker's corners (4, 2) by id, detected in a reduced picture."""
    small, ratio = _reduced(grey, scale)
    parameters = cv2.aruco.DetectorParameters()
    parameters.errorCorrectionRate = ERROR_CORRECTION
    family = cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, dictionary))
    corners, ids, _ = cv2.aruco.ArucoDetector(family, parameters).detectMarkers(small)
    if ids is None:
        return {}
    quads = [_to_full_size(np.reshape(quad, (4, 2)), ratio) for quad in corners]
    return {int(number): quad for number, quad in zip(np.reshape(ids, -1), quads, strict=True)}


def _reduced(grey: NDArray[np.uint8], scale: float) -> tuple[NDArray[np.uint8], Array]:
    """The picture scaled down, and the ratio (2,) of the full width and height to the reduced ones."""
    height, width = grey.shape
    size = round(width * scale), round(height * scale)
    small = cv2.resize(grey, size, interpolation=cv2.INTER_AREA) if scale < 1 else grey
    return np.asarray(small, np.uint8), np.array([width / size[0], height / size[1]])


def _to_full_size(xy_px: Array, ratio: Array) -> Array:
    """Pixels (N, 2) of a reduced picture in the full one; pixel centres have integer coordinates."""
    return (xy_px.astype(float) + 0.5) * ratio - 0.5


def _median_side_px(quads: list[Array]) -> float:
    """Median over quadrilaterals (4, 2) of their mean side."""
    sides = [np.linalg.norm(quad - np.roll(quad, 1, 0), axis=1).mean() for quad in quads]
    return float(np.median(sides))


def _locate_chessboard(grey: NDArray[np.uint8], chart: Chart) -> tuple[Array, Array]:
    """The N corners of a plain chessboard, which must be whole: places (N, 2) in mm, pixels (N, 2)."""
    pattern = (chart.columns - 1, chart.rows - 1)
    small, ratio = _reduced(grey, min(1.0, DETECTION_SIDE_PX / max(grey.shape)))
    found, corners = cv2.findChessboardCornersSB(small, pattern, flags=cv2.CALIB_CB_NORMALIZE_IMAGE)
    if not found or corners is None:
        inner = f"{pattern[0]} × {pattern[1]} inner corners"
        raise CannotMeasure(f"no chessboard of {inner} is seen; it must be whole, flat and sharp")
    return chart.corners_mm[:, :2], _to_full_size(np.reshape(corners, (-1, 2)), ratio)


# --- refinement ---


def _refine_corners(grey: Floats, chart: Chart, warp: SheetWarp, seen_mm: Array) -> ChartCorners:
    """Measure the corners near detected points (N, 2), round by round."""
    mm, blur_px = _corners_near(chart, seen_mm), 0.0
    mm = mm[_inside_picture(warp(mm), grey.shape)]
    for reach in SEARCH_REACHES_SQUARES:
        if len(mm) < MIN_CORNERS:
            raise CannotMeasure(_too_blurred_message(blur_px, len(mm)))
        refiner = CornerRefiner(grey, chart, warp, mm)
        px, covariance = refiner.measure_corners(reach)
        deviation = np.linalg.norm(px - warp(mm), axis=1)
        good = deviation < 1.5 * refiner.reach_px(reach)  # False for NaN
        if good.sum() < MIN_CORNERS:
            raise CannotMeasure(_too_blurred_message(blur_px, int(good.sum())))
        blur_px = refiner.blur_px
        warp = SheetWarp.fit(mm[good], px[good], grey.shape)
        residual = np.linalg.norm(px - warp(mm), axis=1)
        typical = max(float(np.median(residual[good])), MIN_TYPICAL_RESIDUAL_PX)
        good &= residual < OUTLIER_RATIO * typical
        mm, px, covariance = mm[good], px[good], covariance[good]
    if blur_px > min(MAX_BLUR_PX, MAX_BLUR_SQUARES * refiner.side_px):
        raise CannotMeasure(_too_blurred_message(blur_px, len(mm)))
    return ChartCorners(np.column_stack([mm, np.zeros(len(mm))]), px, covariance, blur_px)


def _too_blurred_message(blur_px: float, corners: int) -> str:
    if blur_px > 1:
        remedy = "hold still, focus on the sheet, and use more light"
        return f"blurred over {2 * blur_px:.0f} px: {remedy}"
    few = f"only {format_count(corners, 'corner')} of the sheet can be measured, {MIN_CORNERS} are needed"
    return f"{few}: show more of it"


def _corners_near(chart: Chart, seen_mm: Array) -> Array:
    """The sheet's corners (N, 2) that are near something detected."""
    corners = chart.corners_mm[:, :2]
    distance: Array = np.abs(corners[:, None] - seen_mm).max(-1).min(1)
    return corners[distance < 0.75 * chart.square_mm]


def _inside_picture(px: Array, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Which pixels (N, 2) keep the margin to the edge of a picture (H, W)."""
    limit = np.array([shape[1], shape[0]]) - 1 - BORDER_MARGIN_PX
    return np.asarray(((px > BORDER_MARGIN_PX) & (px < limit)).all(-1))
