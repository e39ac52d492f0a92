"""A base that stands where the picture has changed, and that the usual detection rejects.

The usual detection searches all of a table, so its bar lets next to nothing false through. Where
something is known to stand, and its size is known, less evidence is enough: flat things on the mat
seldom score at all.
"""

from collections.abc import Sequence

import numpy as np

from overruler.bases import Base
from overruler.detections import Detection
from overruler.frame import Shot
from overruler.geometry.pose import Array
from overruler.vision.learned.rim_net import RimEstimates, estimate_rims
from overruler.vision.rounds.fit_rounds import fit_rounds
from overruler.vision.terrain.standing_on import raise_pieces
from overruler.vision.tracking.change_detection import Mask
from overruler.vision.tracking.table_state import MIN_CHANGED_SHARE, TableState

GRID_STEP_RADII = 0.45
"""Spacing of the starts, in radii: the network finds rims from a third of a radius off."""
MAX_TRIES = 300
"""Starts are thinned out above this number."""
MIN_NET_SCORE = 0.03
"""Least score of the network; counted on mats where nothing stands, see the tests."""
MIN_FIT_SCORE = 0.06
"""Least score of the fit; counted on mats where nothing stands, see the tests."""
MAX_RADIUS_LOG_RATIO = 0.12
"""Largest logarithm of the ratio of a rim's radius to the radius sought: beyond, it is another's."""


def redetect_rounds(
    table: TableState,
    bases: Sequence[Base],
    box_mm: Array,
    where: Mask,
    shots: Sequence[Shot] | None = None,
) -> list[Detection]:
    """Find round bases in a box (2, 2) where the picture has changed, the best first.

    There is at most one of each kind. `shots` are the pictures searched, by default the last ones.
    """
    radii = sorted({base.width_mm / 2 for base in bases if base.shape == "circle"})
    found: list[Detection] = []
    for radius in radii:
        found += _redetect_radius(table, radius, radii, box_mm, where, shots)
    return sorted(found, key=lambda detection: -detection.score)


def _redetect_radius(
    table: TableState,
    radius: float,
    radii: Sequence[float],
    box_mm: Array,
    where: Mask,
    shots: Sequence[Shot] | None,
) -> Sequence[Detection]:
    """The base found from starts of this radius; it has the radius of all that its rim fits best."""
    starts = _start_places(table, radius, box_mm, where)
    if not len(starts):
        return ()
    part = table.average_part(box_mm, shots)
    frame, calibration = part.frame, part.report.calibration
    circles = np.column_stack([starts, np.full(len(starts), radius)])
    guesses = estimate_rims(frame, calibration.camera, circles)
    best = _best_guess(guesses, radius)
    if best is None:
        return ()
    guess = guesses[slice(best, best + 1)]
    found = fit_rounds(frame, calibration, guess, np.array(radii), MIN_FIT_SCORE)
    found = raise_pieces(frame, calibration, found, part.report.areas)
    return [part.to_whole_picture(detection) for detection in found]


def _best_guess(guesses: RimEstimates, radius: float) -> int | None:
    right_size = np.abs(np.log(guesses.radius_mm / radius)) < MAX_RADIUS_LOG_RATIO
    scores = np.where(right_size, guesses.score, 0.0)
    best = int(np.argmax(scores))
    return best if scores[best] >= MIN_NET_SCORE else None


def _start_places(table: TableState, radius: float, box_mm: Array, where: Mask) -> Array:
    """Places (N, 2) in the box at which enough of a base would have changed."""
    (left, bottom), (right, top) = box_mm + radius / 2 * np.array([[1.0], [-1.0]])
    step = GRID_STEP_RADII * radius
    x, y = np.arange(left, right, step), np.arange(bottom, top, step)
    places = np.stack(np.meshgrid(x, y), -1).reshape(-1, 2)
    kept = places[table.covered_share(where, places, 0.0, radius) >= MIN_CHANGED_SHARE]
    return np.asarray(kept[:: max(1, len(kept) // MAX_TRIES)])
