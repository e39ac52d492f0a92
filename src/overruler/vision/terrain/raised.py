"""The raised ground under the bases of a photo, and the bases on it at its height.

map of hills and roofs → hills under bases → their sizes there → heights by their rims → what the radii
tell of that ground and of any that the map misses → bases at their heights
"""

from collections.abc import Sequence

from overruler.calibration import Calibration
from overruler.detections import Detection, RaisedArea
from overruler.frame import Frame
from overruler.geometry.pose import Array
from overruler.vision.imaging.orthophoto import Orthophoto
from overruler.vision.learned.hill_net import HillMap
from overruler.vision.terrain.by_base_sizes import heights_from_base_sizes
from overruler.vision.terrain.by_radii import suspect_ground, weigh_areas
from overruler.vision.terrain.find import find_hills
from overruler.vision.terrain.sizes_on_top import reassess_sizes
from overruler.vision.terrain.standing_on import raise_pieces

MIN_SHOWN_PROBABILITY = 0.05
"""Less likely ground counts in the doubt of what may stand on it, and is not told as terrain."""


def raise_found(
    frame: Frame,
    calibration: Calibration,
    found: Sequence[Detection],
    known: Sequence[RaisedArea],
    seen: tuple[Orthophoto, HillMap] | None,
    radii: Array,
    suspecting: bool,
) -> tuple[tuple[Detection, ...], tuple[RaisedArea, ...]]:
    """Return the detections found on the board at their heights, and the raised ground that is likely enough.

    `known` is ground that is declared or marked, `seen` the board from above with the network's map of
    it; None where the table is flat otherwise. Round bases have `radii` (C,). Where it is `suspecting`, on a
    table that was prepared for measuring, bases that look too large tell of ground that the map misses.
    """
    hills: tuple[RaisedArea, ...] = ()
    if seen is not None:
        hills = find_hills(*seen, calibration, found, [area.id for area in known])
    found = reassess_sizes(frame, calibration.camera, found, hills, radii)
    seen_areas = heights_from_base_sizes(frame, calibration, found, hills)
    if seen is not None and suspecting and calibration.is_prepared:
        seen_areas = weigh_areas(calibration, found, seen_areas)
        seen_areas += suspect_ground(calibration, found, (*known, *seen_areas), seen[1])
    raised = raise_pieces(frame, calibration, found, (*known, *seen_areas))
    shown = [area for area in seen_areas if area.probability > MIN_SHOWN_PROBABILITY]
    return raised, (*known, *shown)
