"""A piece that stands where the picture has changed, and that the usual look does not take for a base.

All of a table is looked at with a bar that lets in next to nothing that is none. Where something is known to stand, and
of what size it is, less has to be seen to say where: what lies on the mat by itself seldom scores at all.
"""

from collections.abc import Sequence

import numpy as np

from overruler.bases import Base
from overruler.detections import Detection
from overruler.geometry.pose import Array
from overruler.shot import Shot
from overruler.vision.learned.rim_net import RimGuesses, refine
from overruler.vision.rounds.fit_rounds import fit_rounds
from overruler.vision.terrain.standing_on import raise_pieces
from overruler.vision.tracking.change_detection import Mask
from overruler.vision.tracking.table_state import COVERED, Watched

STEP = 0.45
"""Radii between the places that are tried: the learned look forgives a third of a radius."""
MOST_TRIES = 300
WORTH_A_FIT, LEAST_SCORE = 0.03, 0.06
"""What the learned look and the fit must make of it at least: counted on mats where nothing stands, see the tests."""
SIZE = 0.12
"""A rim that seems larger or smaller by a larger share is another's."""


def sought(
    table: Watched, bases: Sequence[Base], box_mm: Array, where: Mask, shots: Sequence[Shot] | None = None
) -> list[Detection]:
    """The round bases of these kinds in a box (2, 2) where the picture has changed: one of each kind at most.

    `shots` are what is looked at, the last ones as they are.
    """
    radii = sorted({base.width_mm / 2 for base in bases if base.shape == "circle"})
    found = [one for radius in radii for one in _of_radius(table, radius, radii, box_mm, where, shots)]
    return sorted(found, key=lambda one: -one.score)


def _of_radius(
    table: Watched, radius: float, radii: Sequence[float], box_mm: Array, where: Mask, shots: Sequence[Shot] | None
) -> Sequence[Detection]:
    """What is seen where tries of this radius lead; of all the radii it then has the one that its rim fits best."""
    tries = _tries(table, radius, box_mm, where)
    if not len(tries):
        return ()
    part = table.still(box_mm, shots)
    guesses = refine(part.frame, part.report.calibration.camera, np.column_stack([tries, np.full(len(tries), radius)]))
    best = _best(guesses, radius)
    if best is None:
        return ()
    found = fit_rounds(
        part.frame, part.report.calibration, guesses[slice(best, best + 1)], np.array(radii), LEAST_SCORE
    )
    found = raise_pieces(part.frame, part.report.calibration, found, part.report.areas)
    return [part.whole_picture(one) for one in found]


def _best(guesses: RimGuesses, radius: float) -> int | None:
    scores = np.where(np.abs(np.log(guesses.radius_mm / radius)) < SIZE, guesses.score, 0.0)
    best = int(np.argmax(scores))
    return best if scores[best] >= WORTH_A_FIT else None


def _tries(table: Watched, radius: float, box_mm: Array, where: Mask) -> Array:
    """Places (N, 2) in the box where a base could have come or gone, `where` the picture has changed."""
    low, high = box_mm
    x, y = (np.arange(a + radius / 2, b - radius / 2, STEP * radius) for a, b in zip(low, high, strict=True))
    places = np.stack(np.meshgrid(x, y), -1).reshape(-1, 2)
    kept = places[table.covered(where, places, 0.0, radius) >= COVERED]
    return np.asarray(kept[:: max(1, len(kept) // MOST_TRIES)])
