"""The raised ground under the bases of a photo, and the bases on it at its height.

map of hills and roofs → hills under bases → their sizes there → heights by their rims → ground that
only bases tell → bases at their heights
"""

from collections.abc import Sequence

from overruler.calibration import Calibration
from overruler.detections import Detection, RaisedArea
from overruler.frame import Frame
from overruler.geometry.pose import Array
from overruler.vision.imaging.orthophoto import Orthophoto
from overruler.vision.learned.hill_net import HillMap
from overruler.vision.terrain.by_base_sizes import heights_from_base_sizes
from overruler.vision.terrain.find import find_hills
from overruler.vision.terrain.sizes_on_top import reassess_sizes
from overruler.vision.terrain.standing_on import raise_pieces
from overruler.vision.terrain.suspected import suspect_ground


def raise_found(
    frame: Frame,
    calibration: Calibration,
    found: Sequence[Detection],
    known: Sequence[RaisedArea],
    seen: tuple[Orthophoto, HillMap] | None,
    radii: Array,
    suspecting: bool,
) -> tuple[tuple[Detection, ...], tuple[RaisedArea, ...]]:
    """Return the detections found on the board at their heights, and all raised ground.

    `known` is ground that is declared or marked, `seen` the board from above with the network's map of
    it; None where the table is flat otherwise. Round bases have `radii` (C,). Where it is `suspecting`, on a
    table that was prepared for measuring, bases that look too large tell of ground that the map misses.
    """
    hills: tuple[RaisedArea, ...] = ()
    if seen is not None:
        hills = find_hills(*seen, calibration, found, [area.id for area in known])
    found = reassess_sizes(frame, calibration.camera, found, hills, radii)
    areas = (*known, *heights_from_base_sizes(frame, calibration, found, hills))
    if seen is not None and suspecting and calibration.is_prepared:
        areas = (*areas, *suspect_ground(calibration, found, areas))
    return raise_pieces(frame, calibration, found, areas), areas
