"""The ground that pieces stand on, where it stands up above the board: found in the photo, with its height.

picture from above → what a network sees there (`hillmap`) → flat tops under pieces → outline and chance → height
(`hill_walls`)
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import count

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.calibration import Calibration
from overruler.detections import Detection, RaisedArea
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.geometry.relief import reproject_to_height
from overruler.vision.imaging.orthophoto import Orthophoto
from overruler.vision.learned.hill_net import HillMap
from overruler.vision.learned.logits import MAX_LOGIT, probability_to_logit, sigmoid
from overruler.vision.terrain.by_walls import height_from_walls

TOP_PROBABILITY = 0.4
"""Cells that are more likely a top than this belong to one."""
MIN_AREA_MM2, MAX_PICTURE_SHARE = 60.0**2, 0.5
"""Smaller tops are lids, boxes and tokens; what covers more than this share of the picture is the table itself."""
BASE_TOP_SHARE = 0.6
"""What lies within one base by this share of its cells is that base's own top, with what leans over its rim."""
STANDING_REACH_MM = 12.0
"""So near to a top a piece may stand on it."""
INSIDE_QUANTILE = 0.8
"""What this share of a top's cells says less surely is what the top says: its edges are never sure."""
EVEN_ODDS_LOGIT, LOGIT_SLOPE = 0.8, 1.6
"""Where a top is as likely as none, and what more is worth, both in log odds of what its inside says: logistic
regression on 67 tops of rendered tables that the network was not taught on, 50 of them raised."""
MIN_PROBABILITY = 0.01
"""Ground that is less likely raised is left out."""
HEIGHT_PRIOR_MM, HEIGHT_PRIOR_SIGMA_MM = 34.0, 19.0
"""How high hills are whose sides nobody has looked at, and 1 σ of it: about this heights come out right on average, on
101 hills of rendered tables."""
USUAL_ERROR_SHARE = 0.6
"""1 σ of heights as they usually are off, as a share of what is said: 81 hills, 4.8 mm rms where 8.2 are said."""
OUTLINE_SIGMA_MM = 8.0
"""1 σ of an outline's place."""
BAY_HALF_WIDTH_MM = 48.0
"""Bays of an outline up to twice as wide are bridged: what stands at its edge is seen as no top."""
OUTLINE_UPSAMPLING = 4
"""Outlines are drawn between the cells, in so many steps."""
Mask = NDArray[np.bool_]


def find_hills(
    view: Orthophoto,
    seen: HillMap,
    calibration: Calibration,
    standing: Sequence[Detection],
    taken: Collection[str] = (),
) -> tuple[RaisedArea, ...]:
    """The raised ground that bases, found as if they stood on the board, stand on; named h1, h2 and so on.

    `view` is the board from above and `seen` what the network sees there.

    Names already `taken` are not given again.
    """
    flat = [one for one in standing if one.z_mm == 0]
    if not flat:
        return ()
    places, reach = (
        np.array([one.xy_mm for one in flat]),
        np.array([one.base.length_mm / 2 for one in flat]),
    )
    tops = (
        top
        for top in _find_tops(seen)
        if _is_under_piece(seen, top, places) and not _is_base_top(seen, top, places, reach)
    )
    squares = np.reshape(calibration.squares_mm, (-1, 4, 2))
    markers = squares[np.isfinite(squares).all((1, 2))].reshape(-1, 2)
    areas = (
        _measure_ground(view, seen, calibration.camera, top)
        for top in tops
        if not _bears_marker(seen, top, markers)
    )
    names = (name for number in count(1) if (name := f"h{number}") not in taken)
    return tuple(
        replace(area, id=next(names)) for area in areas if area.probability > MIN_PROBABILITY
    )


def _find_tops(seen: HillMap) -> Iterator[Mask]:
    """The cells (H, W) of each flat top that is large enough."""
    likely = np.asarray(seen.top > TOP_PROBABILITY, np.uint8)
    most = MAX_PICTURE_SHARE * float(seen.view.seen.sum())
    number, labels, stats, _ = cv2.connectedComponentsWithStats(likely, connectivity=4)
    for k in range(1, number):
        if MIN_AREA_MM2 / seen.view.mm_per_px**2 < stats[k, cv2.CC_STAT_AREA] < most:
            yield labels == k


def _is_under_piece(seen: HillMap, top: Mask, places_mm: Array) -> bool:
    """Whether a piece may stand on a top."""
    reach = max(1, round(STANDING_REACH_MM / seen.view.mm_per_px))
    wide = cv2.dilate(top.astype(np.uint8), np.ones((2 * reach + 1, 2 * reach + 1), np.uint8))
    row, column = seen.cells_at(places_mm)
    return bool(wide[row, column].any())


def _is_base_top(seen: HillMap, top: Mask, places_mm: Array, reach_mm: Array) -> bool:
    """Whether a top is that of a base, of some middle (N, 2) and radius (N,): hardly a cell lies beyond its rim."""
    cells = seen.view.to_mm(np.argwhere(top)[:, ::-1])
    inside = np.linalg.norm(cells[:, None] - places_mm, axis=-1) < reach_mm + seen.view.mm_per_px
    return bool((inside.mean(0) > BASE_TOP_SHARE).any())


def _bears_marker(seen: HillMap, top: Mask, corners_mm: Array) -> bool:
    """Whether a marker, of those whose corners (4 N, 2) agree on where the board's plane is, lies on a top."""
    row, column = seen.cells_at(corners_mm)
    return bool(top[row, column].reshape(-1, 4).all(1).any())


def _measure_ground(view: Orthophoto, seen: HillMap, camera: Camera, top: Mask) -> RaisedArea:
    """The raised ground that a top is."""
    inside = float(np.clip(np.quantile(seen.top[top], INSIDE_QUANTILE), 1e-6, 1 - 1e-6))
    chance = float(
        sigmoid(LOGIT_SLOPE * (probability_to_logit(inside, MAX_LOGIT) - EVEN_ODDS_LOGIT))
    )
    outline = _trace_outline(seen, top, inside / 2)
    height, sigma = height_from_walls(view, camera, outline, HEIGHT_PRIOR_MM, HEIGHT_PRIOR_SIGMA_MM)
    points = reproject_to_height(camera, outline, 0.0, height).astype(np.float32).reshape(-1, 1, 2)
    footprint = np.asarray(cv2.approxPolyDP(points, 2.0, True)[:, 0], float)
    return RaisedArea("", footprint, height, sigma, chance, USUAL_ERROR_SHARE, OUTLINE_SIGMA_MM)


def _trace_outline(seen: HillMap, top: Mask, share: float) -> Array:
    """The outline (K, 2) of a top as it is seen on the board's plane: where it is as likely as `share`."""
    near = cv2.dilate(top.astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
    across = 2 * round(BAY_HALF_WIDTH_MM / seen.view.mm_per_px) + 1
    bridge = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (across, across))
    whole = cv2.morphologyEx(np.where(near, seen.top, np.float32(0)), cv2.MORPH_CLOSE, bridge)
    fine = cv2.resize(
        whole, None, fx=OUTLINE_UPSAMPLING, fy=OUTLINE_UPSAMPLING, interpolation=cv2.INTER_LINEAR
    )
    outlines, _ = cv2.findContours(
        np.asarray(fine > share, np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE
    )
    points = max(outlines, key=cv2.contourArea)[:, 0]
    return seen.view.to_mm((points + 0.5) / OUTLINE_UPSAMPLING - 0.5)
