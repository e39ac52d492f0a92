"""A known piece, found where its own look is seen again and measured there by its rim.

This finds bases that the detection does not recognise: every base looks like itself.
"""

from collections.abc import Sequence
from dataclasses import replace

import cv2
import numpy as np

from overruler.detections import Detection
from overruler.frame import Shot
from overruler.geometry.pose import Array
from overruler.vision.contours.cone_fit import fit_base
from overruler.vision.contours.reproject import apply_fit
from overruler.vision.tracking.appearance import HALF_GRID, Match, Patch, find_patch
from overruler.vision.tracking.change_detection import GreyImage
from overruler.vision.tracking.piece_track import PieceTrack
from overruler.vision.tracking.table_state import TableState

MIN_LOOK_SHARE = 0.75
"""Least share of its look at which it is this piece."""
START_SIGMA_MM = 1.0
"""1 σ of the base's place from where its look is found, in mm: its figure leans another way there."""
MIN_VISIBLE_SHARE = 0.2
"""Least visible share of the rim for a measurement; less certain rims have larger covariances."""
MAX_SEARCH_MM = 120.0
"""Largest search range round a place, in mm."""
BOX_RADII = 1.6
"""Half the side of the part of the picture in which the rim is fitted, in radii."""
TRIED_TURNS_DEG = tuple(sorted((float(angle) for angle in range(-165, 181, 15)), key=abs))
"""The turns in the hand that are tried, in degrees, the likelier first."""


def reidentify_piece(
    table: TableState, track: PieceTrack, about_mm: Array, reach_mm: float
) -> Detection | None:
    """Find a round piece by its look within about `reach_mm` of a place (2,)."""
    return find_by_appearance(table, track.rest_detection, track.patch, about_mm, reach_mm)


def find_by_appearance(
    table: TableState,
    one: Detection,
    look: Patch,
    about_mm: Array,
    reach_mm: float,
    shots: Sequence[Shot] | None = None,
) -> Detection | None:
    """Find a round base by a look within about `reach_mm` of a place (2,), by default now."""
    if one.base.shape != "circle":
        return None
    radius = one.base.width_mm / 2
    grey = (shots or table.shots)[-1].grey
    match = _find_turned(table, grey, look, about_mm, one.z_mm, min(reach_mm, MAX_SEARCH_MM))
    if match is None:
        return None
    reach = radius * BOX_RADII
    box = match.xy_mm + reach * np.array([[-1.0], [1.0]])
    part = table.average_part(box, shots)
    camera = part.report.calibration.camera
    fit = fit_base(part.frame.pixels, camera, match.xy_mm, START_SIGMA_MM, radius, one.z_mm)
    if fit is None or fit.support < MIN_VISIBLE_SHARE:
        return None
    return apply_fit(table.camera, replace(one, visible=fit.support), fit)


def _find_turned(
    table: TableState, grey: GreyImage, look: Patch, about_mm: Array, z_mm: float, reach_mm: float
) -> Match | None:
    """The match of a look at the first turn at which enough of it agrees."""
    for angle in TRIED_TURNS_DEG:
        turned = [rotate_patch(look, angle)]
        match = find_patch(grey, table.camera, turned, about_mm, z_mm, reach_mm, 1.0)
        if match.share >= MIN_LOOK_SHARE:
            return match
    return None


def rotate_patch(patch: Patch, angle_deg: float) -> Patch:
    """The look of a piece that is turned counter-clockwise on the spot."""
    matrix = cv2.getRotationMatrix2D((HALF_GRID, HALF_GRID), angle_deg, 1.0)
    size = (2 * HALF_GRID + 1, 2 * HALF_GRID + 1)
    values = cv2.warpAffine(
        patch.values, matrix, size, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
    )
    return replace(patch, values=np.asarray(values, np.float32))
