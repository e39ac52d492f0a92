"""A piece that stands where the picture has changed, and that the usual look does not take for a base.

All of a table is looked at with a bar that lets in next to nothing that is none. Where something is known to stand, and
of what size it is, less has to be seen to say where: what lies on the mat by itself seldom scores at all.
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
"""Radii between the places that are tried: the learned look forgives a third of a radius."""
MAX_TRIES = 300
MIN_NET_SCORE, MIN_FIT_SCORE = 0.03, 0.06
"""What the learned look and the fit must make of it at least: counted on mats where nothing stands, see the tests."""
MAX_RADIUS_LOG_RATIO = 0.12
"""A rim that seems larger or smaller by a larger share is another's."""


def redetect_rounds(
    table: TableState,
    bases: Sequence[Base],
    box_mm: Array,
    where: Mask,
    shots: Sequence[Shot] | None = None,
) -> list[Detection]:
    """The round bases of these kinds in a box (2, 2) where the picture has changed: one of each kind at most.

    `shots` are what is looked at, the last ones as they are.
    """
    radii = sorted({base.width_mm / 2 for base in bases if base.shape == "circle"})
    found = [
        one
        for radius in radii
        for one in _redetect_radius(table, radius, radii, box_mm, where, shots)
    ]
    return sorted(found, key=lambda one: -one.score)


def _redetect_radius(
    table: TableState,
    radius: float,
    radii: Sequence[float],
    box_mm: Array,
    where: Mask,
    shots: Sequence[Shot] | None,
) -> Sequence[Detection]:
    """What is seen where tries of this radius lead; of all the radii it then has the one that its rim fits best."""
    tries = _start_places(table, radius, box_mm, where)
    if not len(tries):
        return ()
    part = table.average_part(box_mm, shots)
    guesses = estimate_rims(
        part.frame,
        part.report.calibration.camera,
        np.column_stack([tries, np.full(len(tries), radius)]),
    )
    best = _best_guess(guesses, radius)
    if best is None:
        return ()
    found = fit_rounds(
        part.frame,
        part.report.calibration,
        guesses[slice(best, best + 1)],
        np.array(radii),
        MIN_FIT_SCORE,
    )
    found = raise_pieces(part.frame, part.report.calibration, found, part.report.areas)
    return [part.to_whole_picture(one) for one in found]


def _best_guess(guesses: RimEstimates, radius: float) -> int | None:
    scores = np.where(
        np.abs(np.log(guesses.radius_mm / radius)) < MAX_RADIUS_LOG_RATIO, guesses.score, 0.0
    )
    best = int(np.argmax(scores))
    return best if scores[best] >= MIN_NET_SCORE else None


def _start_places(table: TableState, radius: float, box_mm: Array, where: Mask) -> Array:
    """Places (N, 2) in the box where a base could have come or gone, `where` the picture has changed."""
    low, high = box_mm
    x, y = (
        np.arange(a + radius / 2, b - radius / 2, GRID_STEP_RADII * radius)
        for a, b in zip(low, high, strict=True)
    )
    places = np.stack(np.meshgrid(x, y), -1).reshape(-1, 2)
    kept = places[table.covered_share(where, places, 0.0, radius) >= MIN_CHANGED_SHARE]
    return np.asarray(kept[:: max(1, len(kept) // MAX_TRIES)])
