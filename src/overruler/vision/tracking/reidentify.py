"""A known piece where its own look is seen again, and its rim is measured there: no base looks like none to itself."""

from collections.abc import Sequence
from dataclasses import replace

import cv2
import numpy as np

from overruler.detections import Detection
from overruler.frame import Shot
from overruler.geometry.pose import Array
from overruler.vision.contours.cone_fit import fit_base
from overruler.vision.contours.reproject import apply_fit
from overruler.vision.tracking.appearance import HALF_GRID, Patch, find_patch
from overruler.vision.tracking.piece_track import PieceTrack
from overruler.vision.tracking.table_state import TableState

MIN_LOOK_SHARE = 0.75
"""Share of its look from which on it is this piece."""
START_SIGMA_MM = 1.0
"""1 σ of where a look is seen, against where the base stands: its figure leans otherwise there."""
MIN_VISIBLE_SHARE = 0.2
"""Share of the rim that must be seen for the base to be measured; what is seen less surely has more doubt."""
MAX_SEARCH_MM = 120.0
"""A look is searched so far round a place at most."""
TRIED_TURNS_DEG = tuple(sorted((float(angle) for angle in range(-165, 181, 15)), key=abs))
"""How a hand may have turned it, the likelier first."""


def reidentify_piece(
    table: TableState, held: PieceTrack, about_mm: Array, reach_mm: float
) -> Detection | None:
    """A round piece where its look is seen within about `reach_mm` of a place (2,); None where it is not."""
    return find_by_appearance(table, held.rest_detection, held.patch, about_mm, reach_mm)


def find_by_appearance(
    table: TableState,
    one: Detection,
    look: Patch,
    about_mm: Array,
    reach_mm: float,
    shots: Sequence[Shot] | None = None,
) -> Detection | None:
    """A round base where its look is seen in shots, the last ones or others; None where it is not."""
    if one.base.shape != "circle":
        return None
    z_mm, reach, radius = one.z_mm, min(reach_mm, MAX_SEARCH_MM), one.base.width_mm / 2
    grey, camera = (shots or table.shots)[-1].grey, table.camera
    tries = (
        find_patch(grey, camera, [rotate_patch(look, angle)], about_mm, z_mm, reach, 1.0)
        for angle in TRIED_TURNS_DEG
    )
    match = next((match for match in tries if match.share >= MIN_LOOK_SHARE), None)
    if match is None:
        return None
    part = table.average_part(
        np.array([match.xy_mm - radius * 1.6, match.xy_mm + radius * 1.6]), shots
    )
    fit = fit_base(
        part.frame.pixels, part.report.calibration.camera, match.xy_mm, START_SIGMA_MM, radius, z_mm
    )
    if fit is None or fit.support < MIN_VISIBLE_SHARE:
        return None
    return apply_fit(table.camera, replace(one, visible=fit.support), fit)


def rotate_patch(patch: Patch, angle_deg: float) -> Patch:
    """The look of a piece that was turned counter-clockwise where it stands."""
    matrix = cv2.getRotationMatrix2D((HALF_GRID, HALF_GRID), angle_deg, 1.0)
    size = (2 * HALF_GRID + 1, 2 * HALF_GRID + 1)
    values = cv2.warpAffine(
        patch.values, matrix, size, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
    )
    return replace(patch, values=np.asarray(values, np.float32))
