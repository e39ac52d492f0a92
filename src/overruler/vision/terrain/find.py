"""Find the raised ground that pieces stand on in the photo, with its height.

picture from above → network's map (`hill_net`) → flat tops under pieces → outline and probability →
height (`by_walls`)
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.calibration import Calibration
from overruler.detections import Detection, RaisedArea
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.geometry.relief import reproject_to_height
from overruler.vision.imaging.orthophoto import Orthophoto
from overruler.vision.learned.coefficients import load_coefficients
from overruler.vision.learned.hill_net import HillMap
from overruler.vision.learned.logits import MAX_LOGIT, probability_to_logit, sigmoid
from overruler.vision.terrain.by_walls import Kind, height_from_walls
from overruler.vision.terrain.names import free_names

TOP_PROBABILITY = 0.4
"""Probability from which a cell belongs to a top."""
MIN_AREA_MM2 = 60.0**2
"""Smallest top; lids, boxes and tokens are smaller."""
MAX_PICTURE_SHARE = 0.5
"""Largest top as a share of the picture; the table itself is larger."""
BASE_TOP_SHARE = 0.6
"""Share of a top's cells within one base from which it is the base's own top."""
STANDING_REACH_MM = 12.0
"""Largest distance from a top of a piece that stands on it."""
INSIDE_QUANTILE = 0.8
"""Quantile of the cells' probabilities that represents a top: its edges are never sure."""
HILL_SCORE = load_coefficients("hill_score")
"""Probability of a hill by its representative log odds: those of even odds, and the slope."""
FLAT_THINGS_NATS = -2.2
"""Log odds for what lies flat on real tables. Of the tops that `HILL_SCORE` was fitted on three in
four were raised. On real tables paper, field mats and printed rings are as many as three for each
hill."""
MAX_WALL_NATS = 3.0
"""Largest evidence of walls for or against raised ground: shadows lie on one side as walls do."""
MIN_PROBABILITY = 0.005
"""Smallest probability of raised ground: less likely it would not keep a call from being certain."""
HILL = Kind(34.0, 19.0, 7.0, 5.0)
"""Hills: with this height they were unbiased on 101 of rendered tables."""
BUILDING = Kind(66.0, 26.0, -2.0, 3.0)
"""Roofs: 64 on rendered tables are 42 to 93 mm high, and their walls stand back under eaves."""
UPRIGHT_HILLS = 0.1
"""Share of hills whose sides stand upright as walls do."""
HILL_LOGIT, HILL_SLOPE = 4.2, 2.0
"""Log odds of a top, by the network, that a hill and a roof have as often: it is surer of hills. And by
how much the log odds of a hill rise with them: 13 of 14 hills have 5 or more, 15 of 16 roofs less than 4."""
USUAL_ERROR_SHARE = 0.6
"""1 σ of usual height errors per stated one: on 81 hills 4.8 mm rms of 8.2 mm stated. All of it counts
for roofs: on 33 it was 1.3."""
OUTLINE_SIGMA_MM = 8.0
"""1 σ of an outline's place."""
BAY_HALF_WIDTH_MM = 48.0
"""Half the width of bays bridged in an outline: pieces at its edge hide the top."""
OUTLINE_UPSAMPLING = 4
"""Steps a cell in which outlines are traced."""
Mask = NDArray[np.bool_]


def find_hills(
    view: Orthophoto,
    seen: HillMap,
    calibration: Calibration,
    standing: Sequence[Detection],
    taken: Collection[str] = (),
) -> tuple[RaisedArea, ...]:
    """Return the raised ground under bases found as if they stood on the board.

    `view` is the board from above, `seen` the network's map of it. The hills are named h1, h2 and
    so on, without the names already `taken`.
    """
    flat = [detection for detection in standing if detection.z_mm == 0]
    if not flat:
        return ()
    places = np.array([detection.xy_mm for detection in flat])
    radii = np.array([detection.base.length_mm / 2 for detection in flat])
    squares = np.reshape(calibration.squares_mm, (-1, 4, 2))
    markers = squares[np.isfinite(squares).all((1, 2))].reshape(-1, 2)
    names = free_names(taken)
    hills = []
    for top in _find_tops(seen):
        if not _is_under_piece(seen, top, places) or _is_base_top(seen, top, places, radii):
            continue
        if _bears_marker(seen, top, markers):
            continue
        area = _measure_ground(view, seen, calibration.camera, top)
        if area.probability > MIN_PROBABILITY:
            hills.append(replace(area, id=next(names)))
    return tuple(hills)


def _find_tops(seen: HillMap) -> Iterator[Mask]:
    """Yield the cells (H, W) of each flat top of a plausible area."""
    likely = np.asarray(seen.top > TOP_PROBABILITY, np.uint8)
    smallest = MIN_AREA_MM2 / seen.view.mm_per_px**2
    largest = MAX_PICTURE_SHARE * float(seen.view.seen.sum())
    number, labels, stats, _ = cv2.connectedComponentsWithStats(likely, connectivity=4)
    for k in range(1, number):
        if smallest < stats[k, cv2.CC_STAT_AREA] < largest:
            yield labels == k


def _is_under_piece(seen: HillMap, top: Mask, places_mm: Array) -> bool:
    """Return whether a piece may stand on a top."""
    reach = max(1, round(STANDING_REACH_MM / seen.view.mm_per_px))
    near = _dilate(top, reach)
    row, column = seen.cells_at(places_mm)
    return bool(near[row, column].any())


def _dilate(top: Mask, reach: int) -> Mask:
    """Return the cells up to `reach` cells away from a top, diagonally too."""
    width = 2 * reach + 1
    kernel = np.ones((width, width), np.uint8)
    return np.asarray(cv2.dilate(top.astype(np.uint8), kernel) > 0)


def _is_base_top(seen: HillMap, top: Mask, places_mm: Array, radii_mm: Array) -> bool:
    """Return whether a top is that of a base: few cells lie beyond the rim of one of N bases."""
    cells = seen.view.to_mm(np.argwhere(top)[:, ::-1])
    distances = np.linalg.norm(cells[:, None] - places_mm, axis=-1)
    is_inside = distances < radii_mm + seen.view.mm_per_px
    return bool((is_inside.mean(0) > BASE_TOP_SHARE).any())


def _bears_marker(seen: HillMap, top: Mask, corners_mm: Array) -> bool:
    """Return whether a marker in the board's plane lies on a top; its corners are (4 N, 2)."""
    row, column = seen.cells_at(corners_mm)
    return bool(top[row, column].reshape(-1, 4).all(1).any())


def _measure_ground(view: Orthophoto, seen: HillMap, camera: Camera, top: Mask) -> RaisedArea:
    """Return the raised ground of a top, unnamed."""
    quantile = np.quantile(seen.top[top], INSIDE_QUANTILE)
    inside = float(np.clip(quantile, 1e-6, 1 - 1e-6))
    logit = float(probability_to_logit(inside, MAX_LOGIT))
    outline = _trace_outline(seen, top, inside / 2)
    hill_probability = float(sigmoid(HILL_SLOPE * (logit - HILL_LOGIT)))
    prior = prior_by_look(hill_probability)
    height, sigma, nats = height_from_walls(view, camera, outline, prior)
    chance = _raised_probability(logit, nats)
    raised = reproject_to_height(camera, outline, 0.0, height)
    points = raised.astype(np.float32).reshape(-1, 1, 2)
    footprint = np.asarray(cv2.approxPolyDP(points, 2.0, True)[:, 0], float)
    share = usual_error_share(hill_probability)
    return RaisedArea("", footprint, height, sigma, chance, share, OUTLINE_SIGMA_MM)


def prior_by_look(hill_probability: float) -> Array:
    """Return the prior (H, R) of height and run of a top that is a hill, or else a roof."""
    upright = HILL._replace(run_mm=BUILDING.run_mm, run_sigma_mm=BUILDING.run_sigma_mm)
    hills = (1 - UPRIGHT_HILLS) * HILL.prior() + UPRIGHT_HILLS * upright.prior()
    return hill_probability * hills + (1 - hill_probability) * BUILDING.prior()


def usual_error_share(hill_probability: float) -> float:
    """Return the share of its stated 1 σ that a height usually errs by."""
    return hill_probability * USUAL_ERROR_SHARE + (1 - hill_probability)


def _raised_probability(network_logit: float, wall_nats: float) -> float:
    """Return the probability that ground is raised, by the network and by its walls."""
    seen = HILL_SCORE["slope"] * (network_logit - HILL_SCORE["even_odds_logit"])
    walls = float(np.clip(wall_nats, -MAX_WALL_NATS, MAX_WALL_NATS))
    return float(sigmoid(seen + FLAT_THINGS_NATS + walls))


def _trace_outline(seen: HillMap, top: Mask, level: float) -> Array:
    """Return the outline (K, 2) of a top on the board's plane, at probability `level`."""
    near = _dilate(top, 1)
    across = 2 * round(BAY_HALF_WIDTH_MM / seen.view.mm_per_px) + 1
    disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (across, across))
    masked = np.where(near, seen.top, np.float32(0))
    whole = cv2.morphologyEx(masked, cv2.MORPH_CLOSE, disc)
    steps = OUTLINE_UPSAMPLING
    fine = cv2.resize(whole, None, fx=steps, fy=steps, interpolation=cv2.INTER_LINEAR)
    inside = np.asarray(fine > level, np.uint8)
    outlines, _ = cv2.findContours(inside, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    points = max(outlines, key=cv2.contourArea)[:, 0]
    return seen.view.to_mm((points + 0.5) / steps - 0.5)
