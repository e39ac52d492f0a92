"""Detect the bases in a photo.

Networks see the whole table from above first. Then the `finders` that the search needs run at the
same time: each takes candidates to detections by a fit in the photo's own pixels. Where two
detections claim one place, the surer one stays. Rectangles other than plates have two finders: one
for chosen sizes, one where nobody chose any. Hexagons are found as round bases first.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np

from overruler.bases import Base
from overruler.calibration import Calibration
from overruler.detections import Detection
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.detection.bare_cells import without_bare_circles, without_bare_detections
from overruler.vision.detection.choice import choose, split_doubtful
from overruler.vision.detection.finders import (
    FINDERS,
    UNNAMED,
    Search,
    visible,
)
from overruler.vision.detection.sizes import Sizes
from overruler.vision.hexagons.find import with_hexagons, with_named_hexagons
from overruler.vision.hexagons.judged import MAX_SLANT_DEG, Rims
from overruler.vision.hexagons.seen_from_above import find_seen_from_above, without_places_of
from overruler.vision.hexagons.wanted import WantedHexagons
from overruler.vision.imaging.orthophoto import Orthophoto, is_inside, rectify_photo
from overruler.vision.learned.inference import OVERVIEW_MM_PER_PX
from overruler.vision.prints.printed_grid import PrintOnMat, nothing_printed
from overruler.vision.rounds.scoring import MIN_SCORE

SEARCH_MARGIN_MM = 40.0
"""How far beyond a known board bases are searched for, in mm."""
FOOTPRINT_POINTS = 9
"""Points on each side of the photo that give its footprint on the board."""


def detect(
    frame: Frame,
    calibration: Calibration,
    bases: Sequence[Base],
    hidden: Sequence[Array] = (),
    margin_mm: float = SEARCH_MARGIN_MM,
    progress: Callable[[str], None] = lambda text: None,
    within_mm: Array | None = None,
    least_score: float = MIN_SCORE,
    printed: PrintOnMat = nothing_printed,
) -> tuple[Detection, ...]:
    """Detect the given `bases` in a photo, the surest first.

    Nothing is searched for in `hidden` polygons (K, 2) in mm, such as the markers' cards. Bases may
    stand up to `margin_mm` beyond the board. `within_mm` (2, 2), lower left and upper right, limits
    the search to a part of a known table; round bases are then found by the whole-table network
    only. Round bases and unnamed rectangles below `least_score` are left out. So are bare cells of the
    grid that is `printed` on the mat.
    """
    progress("looking for bases")
    sizes = Sizes.of(bases)
    view = rectify_board(frame, calibration, margin_mm=margin_mm, within_mm=within_mm)
    rings = within_mm is None
    known = (hidden, rings, progress, least_score, printed)
    search = Search.begin(frame, calibration, view, sizes, *known)
    together = choose(search, *_run_finders(search))
    return _tell_hexagons(search, together, WantedHexagons.of(bases))


def _tell_hexagons(
    search: Search, together: tuple[Detection, ...], wanted: WantedHexagons
) -> tuple[Detection, ...]:
    """Tell which of the round bases are `wanted` hexagons, or leave it to several photos together."""
    if not wanted.widths_mm or not (wanted.are_named or _shows_rims(search)):
        return together  # unnamed ones are told as round ones
    rims = Rims(search.frame.pixels, search.calibration.camera, search.slant_deg)
    likely, doubtful = split_doubtful(together)
    from_above = partial(_circles_from_above, search)
    further = find_seen_from_above(rims, likely, from_above, wanted)
    if search.least_score < MIN_SCORE:
        return (*likely, *further, *without_places_of(doubtful, further))
    if wanted.are_named:
        return with_named_hexagons(rims, together, search.sizes.hexagons, further)
    return with_hexagons(rims, together, further)


def _shows_rims(search: Search) -> bool:
    """Tell whether rims are seen as well as what tells hexagons learnt: in play figures hide much of them."""
    return search.seen is None and search.slant_deg <= MAX_SLANT_DEG


def _circles_from_above(search: Search) -> Array:
    """Return the circles (K, 4) of the whole-table network, but those that are hidden or bare cells."""
    return without_bare_circles(search.printed(), visible(search, search.discs.rounds))


def _run_finders(search: Search) -> tuple[list[Detection], list[Detection]]:
    """Run the finders that the search needs: the first in this thread, the others beside it.

    Rectangles that nobody named are returned apart.
    """
    needed = [finder for finder in FINDERS if finder.runs(search)]
    found: list[Detection] = []
    unnamed: list[Detection] = []
    if not needed:
        return found, unnamed
    first, *others = needed
    with ThreadPoolExecutor() as pool:
        running = [pool.submit(finder.find, search) for finder in others]
        results = [first.find(search), *(future.result() for future in running)]
    for finder, some in zip(needed, results, strict=True):
        (unnamed if finder.kind == UNNAMED else found).extend(some)
    grid = search.printed() if found or unnamed else None
    return without_bare_detections(grid, found), without_bare_detections(grid, unnamed)


def rectify_board(
    frame: Frame,
    calibration: Calibration,
    mm_per_px: float = OVERVIEW_MM_PER_PX,
    margin_mm: float = SEARCH_MARGIN_MM,
    within_mm: Array | None = None,
) -> Orthophoto:
    """Rectify the board with a margin, or the box `within_mm` (2, 2), cut to what the photo shows.

    The resolution is `mm_per_px`, or the photo's own where that is coarser.
    """
    width, height = calibration.board_mm
    camera = calibration.camera
    centre = np.array([width / 2, height / 2, 0.0])
    scale = float(camera.mm_per_px(centre))
    low, high = [-margin_mm, -margin_mm], [width + margin_mm, height + margin_mm]
    box = np.array([low, high])
    if within_mm is not None:
        box = _intersect(box, within_mm)
    if not _shows_whole_box(camera, box, frame.size_px):
        footprint = _photo_footprint(camera, frame.size_px)
        if footprint is not None:
            box = _intersect(box, footprint)
    (left, bottom), (right, top) = box
    return rectify_photo(frame.pixels, camera, (left, bottom, right, top), max(scale, mm_per_px))


def _intersect(box: Array, other: Array) -> Array:
    """Intersect two boxes (2, 2) of lower left and upper right."""
    low, high = np.maximum(box[0], other[0]), np.minimum(box[1], other[1])
    return np.array([low, high])


def _shows_whole_box(camera: Camera, box_mm: Array, size_px: tuple[int, int]) -> bool:
    """Tell whether the photo shows all corners of a box (2, 2); faster than the footprint."""
    x, y = np.meshgrid(box_mm[:, 0], box_mm[:, 1])
    corners = np.stack([x, y, np.zeros_like(x)], -1)
    u, v = np.moveaxis(camera.project(corners), -1, 0)
    width, height = size_px
    return bool(is_inside(u, v, height, width).all())


def _photo_footprint(camera: Camera, size_px: tuple[int, int]) -> Array | None:
    """Return the box (2, 2) around the photo's part of z = 0; None if it shows the horizon."""
    width, height = size_px
    u = np.linspace(0, width - 1, FOOTPRINT_POINTS)
    v = np.linspace(0, height - 1, FOOTPRINT_POINTS)
    rows = [(x, y) for x in u for y in (v[0], v[-1])]
    columns = [(x, y) for y in v for x in (u[0], u[-1])]
    border = camera.unproject(np.array(rows + columns))
    if not np.isfinite(border).all():
        return None
    return np.array([border.min(0), border.max(0)])
