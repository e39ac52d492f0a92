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
from overruler.vision.contours.ends_of_ovals import oval_preferences
from overruler.vision.contours.overlap_choice import bases_overlap
from overruler.vision.detection.bare_cells import without_bare_circles, without_bare_detections
from overruler.vision.detection.cards import without_cards
from overruler.vision.detection.finders import (
    DOMINANCE_RATIO,
    FINDERS,
    REGIMENT,
    UNNAMED,
    Search,
    visible,
)
from overruler.vision.detection.sizes import Sizes, is_plate
from overruler.vision.hexagons.find import with_hexagons, with_named_hexagons
from overruler.vision.imaging.orthophoto import Orthophoto, is_inside, rectify_photo
from overruler.vision.learned.inference import OVERVIEW_MM_PER_PX
from overruler.vision.prints.printed_grid import PrintOnMat, nothing_printed
from overruler.vision.rounds.scoring import MIN_SCORE, MIN_SCORE_IN_PLAY
from overruler.vision.rounds.suppression import MAX_OVERLAP_SHARE

SEARCH_MARGIN_MM = 40.0
"""How far beyond a known board bases are searched for, in mm."""
PLATE_PREFERENCE = 10.0
"""A base in the place of a plate stays only with a probability of error smaller by this factor.

Ships have round hulls.
"""
SURE_IN_MINORITY = 0.995
"""Smallest score of a base of the kind, plates or others, that the other kind outnumbers.

Hulls and tokens look round, printed rooms and doors look like plates. Nobody chose sizes or a game,
and no game of the catalogue has both; but people mix games."""
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
    together = _choose(search, *_run_finders(search))
    camera = calibration.camera
    if least_score < MIN_SCORE:
        return together  # several photos tell them together
    from_above = partial(_circles_from_above, search)
    if sizes.hexagons:
        return with_named_hexagons(frame.pixels, camera, together, sizes.hexagons, from_above)
    if search.sizes_chosen or search.shows_sides:
        return together  # tables in play have them as round ones
    return with_hexagons(frame.pixels, camera, together, from_above)


def _circles_from_above(search: Search) -> Array:
    """Return the circles (K, 4) of the whole-table network, but those that are hidden or bare cells."""
    return without_bare_circles(search.printed(), visible(search, search.discs.rounds))


def _choose(
    search: Search, found: list[Detection], angular: list[Detection]
) -> tuple[Detection, ...]:
    """Choose among what the finders `found`; the `angular` ones are rectangles that nobody named."""
    sizes = search.sizes
    unnamed, doubtful = split_doubtful(angular)
    if not sizes.only_plates:
        return _suppress_overlaps([*found, *unnamed], 1.0)
    if search.sizes_chosen:
        return _suppress_overlaps([*found, *unnamed])
    if not search.is_fleet or len(unnamed) >= REGIMENT:
        found = _without_parts(found, unnamed)
    together = _prefer_dominant_kind(found, unnamed)
    if search.seen is not None or search.least_score < MIN_SCORE:
        # No table in play taught the network that knows cards; and several photos see what is flat.
        if len(unnamed) < REGIMENT:
            return together
        alone = [
            one for one in doubtful if not any(_exclude_each_other(one, it) for it in together)
        ]
        return (*together, *alone)
    return without_cards(search.frame, search.calibration.camera, together)


def split_doubtful(
    detections: Sequence[Detection],
) -> tuple[tuple[Detection, ...], tuple[Detection, ...]]:
    """Split the likely bases from round ones and rectangles that only other photos may confirm."""
    likely: list[Detection] = []
    doubtful: list[Detection] = []
    for detection in detections:
        (doubtful if detection.score < _least_likely(detection) else likely).append(detection)
    return tuple(likely), tuple(doubtful)


def _least_likely(detection: Detection) -> float:
    """Return the score from which a base is a likely one, where its finder tells unlikely ones, too."""
    if detection.base.shape == "rectangle":
        from overruler.vision.plates.find import MIN_OPEN_SCORE  # loaded by what found it
        from overruler.vision.plates.regiments import MIN_SCORE as MIN_SCORE_OF_RECTANGLES

        return MIN_OPEN_SCORE if is_plate(detection.base) else MIN_SCORE_OF_RECTANGLES
    if detection.base.shape == "circle":
        return MIN_SCORE if detection.in_play_probability is None else MIN_SCORE_IN_PLAY
    return 0.0


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


def _without_parts(
    detections: Sequence[Detection], unnamed: Sequence[Detection]
) -> list[Detection]:
    """Remove plates where regiments have a larger base, or two bases of another size.

    Two bases of 40 × 20 mm side by side look like a plate of 40 mm.
    """

    def is_part(plate: Detection) -> bool:
        there = [one for one in unnamed if _exclude_each_other(plate, one)]
        others = [one.base for one in there if one.base != plate.base]
        return len(others) > 1 or any(base.length_mm > plate.base.length_mm for base in others)

    return [one for one in detections if not (is_plate(one.base) and is_part(one))]


def _prefer_dominant_kind(
    detections: Sequence[Detection], unnamed: Sequence[Detection] = ()
) -> tuple[Detection, ...]:
    """Keep what can stand together; of plates and others, those far fewer must be sure.

    Where one kind dominates, nothing of the other stands in a place of it. `unnamed` rectangles are
    of neither kind: regiments stand among round bases.
    """
    whole = [*detections, *unnamed]
    together, free = _suppress_overlaps(whole), set(map(id, unnamed))
    counted = [one for one in together if id(one) not in free]
    plates = sum(_is_rectangle(one) for one in counted)
    others = len(counted) - plates
    if max(plates, others) < DOMINANCE_RATIO * min(plates, others):
        return together
    many_are_plates = plates > others
    many = [one for one in whole if id(one) in free or _is_rectangle(one) == many_are_plates]
    few = [one for one in counted if _is_rectangle(one) != many_are_plates]
    standing = _suppress_overlaps(many)
    sure = [one for one in few if one.score >= SURE_IN_MINORITY]
    apart = [one for one in sure if not any(_exclude_each_other(one, big) for big in standing)]
    return tuple(sorted((*standing, *apart), key=lambda detection: -detection.score))


def _suppress_overlaps(
    detections: Sequence[Detection], preference: float = PLATE_PREFERENCE
) -> tuple[Detection, ...]:
    """Remove detections that overlap a surer one, the surest first (non-maximum suppression).

    The probability of error of a plate is divided by `preference`.
    """

    preferences = oval_preferences(
        [one.base for one in detections],
        [one.score for one in detections],
        lambda j, k: _exclude_each_other(detections[j], detections[k]),
    )

    def error_probability(k: int) -> float:
        divisor = preference if is_plate(detections[k].base) else preferences[k]
        return (1 - detections[k].score) / divisor

    kept: list[Detection] = []
    for k in sorted(range(len(detections)), key=error_probability):
        if not any(_exclude_each_other(detections[k], other) for other in kept):
            kept.append(detections[k])
    return tuple(sorted(kept, key=lambda detection: -detection.score))


def _exclude_each_other(one: Detection, other: Detection) -> bool:
    """Tell whether two detections overlap too much; the finders compare their own results."""
    if one.base.shape == other.base.shape != "rectangle":
        return False
    return bases_overlap(one, other, MAX_OVERLAP_SHARE)


def _is_rectangle(detection: Detection) -> bool:
    return detection.base.shape == "rectangle"


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
