"""Find the bases in a photo: candidates from above, a learned look at each, then a fit in the photo's own pixels.

look from above (orthophoto) → candidates → rims (what is a base, roughly where) → sizes → fit → detections
Ovals are looked at on a board that is stretched until they are round (`ovals`), square plates go their own way
(`plates`), and so do other rectangles (`rectangles`), which are looked for only where somebody names a size that no
plate of the catalogue has: two in contact look like a plate whose card has a line across it. Of two kinds that claim
one place the surer one stands.
"""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from overruler.bases import PLATE_SIDES_MM, Base
from overruler.calibration import Calibration
from overruler.detections import Detection
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.contours.overlap_choice import bases_overlap
from overruler.vision.imaging.orthophoto import Orthophoto, rectify_photo
from overruler.vision.learned.disc_net import NO_DISCS, find_discs
from overruler.vision.learned.inference import OVERVIEW_MM_PER_PX
from overruler.vision.learned.rim_net import estimate_rims
from overruler.vision.learned.shape_net import ShapeCandidate, find_plate_candidates
from overruler.vision.rounds.find_ovals import find_ovals
from overruler.vision.rounds.fit_rounds import covers_catalogue, fit_rounds
from overruler.vision.rounds.ring_filter import are_visible, find_candidates
from overruler.vision.rounds.suppression import MAX_OVERLAP_SHARE, suppress_overlaps

SEARCH_MARGIN_MM = 40.0
"""How far beyond a known board bases are looked for."""
PLATE_PREFERENCE = 10.0
"""Another base must be surer than a plate at the same place, its doubt so many times less: ships have round hulls."""
DOMINANCE_RATIO = 2.0
"""Where plates outnumber round bases so many times, the round ones are the hulls and tokens of a table of ships: no
game of the catalogue stands on both."""
LIKELY_SCORE, MANY_ROUNDS, MANY_PLATES = 0.5, 10, 5
"""Where so many round bases are likely, and nobody chose what to look for, no plates are looked for: of 76 tables of
ships the look from above takes 3 things at most for round bases. Where so many plates are, and more by `DOMINANCE_RATIO`,
nothing else is: it takes 7 things or more for plates there, on 68 other tables 3 at most."""


def detect(
    frame: Frame,
    calibration: Calibration,
    bases: Sequence[Base],
    hidden: Sequence[Array] = (),
    margin_mm: float = SEARCH_MARGIN_MM,
    progress: Callable[[str], None] = lambda text: None,
    within_mm: Array | None = None,
) -> tuple[Detection, ...]:
    """The round bases, square plates, ovals and rectangles among `bases` that stand in the photo, the surest first.

    `hidden` are polygons (K, 2) in mm, the markers' cards, where nothing is looked for; `margin_mm` is how far beyond
    the board bases may stand; `within_mm` (2, 2), lower left and upper right, is where alone is looked: a part of a
    table that is known, where no rings are sought besides what the look from above names.
    """
    radii = round_radii_mm(bases)
    angular = [base for base in bases if base.shape == "rectangle"]
    catalogued = [base for base in angular if base.is_square and base.width_mm in PLATE_SIDES_MM]
    sides, ranked = sorted({base.width_mm for base in catalogued}), len(catalogued) < len(angular)
    oblong = [base for base in bases if base.shape == "oval"]

    def plates(guesses: Sequence[ShapeCandidate], expected: bool) -> Iterable[Detection]:
        from overruler.vision.plates.find import (
            find_plates,
        )  # a crowd of round bases needs none of it

        return find_plates(frame, calibration.camera, guesses, sides, expected)

    def round_ones(view: Orthophoto, known: Array) -> Iterable[Detection]:
        candidates = find_candidates(view, radii.tolist(), hidden, known, rings=within_mm is None)
        if not len(candidates.response):
            return ()
        progress(f"looking closer at {len(candidates.response)} candidates")
        guesses = estimate_rims(
            frame, calibration.camera, np.column_stack([candidates.xy_mm, candidates.radius_mm])
        )
        chosen = guesses[np.array(suppress_overlaps(guesses, radii), int)]
        progress(f"fitting {len(chosen.score)} bases")
        return fit_rounds(frame, calibration, chosen, radii, from_above=known)

    def rectangles(view: Orthophoto) -> Iterable[Detection]:
        from overruler.vision.plates.rectangles import (
            find_rectangles,
        )  # hardly anybody names such sizes

        return find_rectangles(frame, calibration.camera, view, angular, hidden)

    def oval_ones(view: Orthophoto, known: Array) -> Iterable[Detection]:
        return find_ovals(
            frame, calibration.camera, oblong, known[are_visible(view, hidden, known[:, :2])]
        )

    progress("looking for bases")
    found: list[Detection] = []
    view = rectify_board(frame, calibration, margin_mm=margin_mm, within_mm=within_mm)
    known = find_discs(view, calibration.camera) if len(radii) or oblong else NO_DISCS
    rounds, chosen = _count_likely(known.rounds[:, 3]), not covers_catalogue(radii)
    squares = (
        find_plate_candidates(view, calibration.camera, hidden)
        if sides and (chosen or rounds < MANY_ROUNDS)
        else []
    )
    fleet = not chosen and _count_likely(guess.score for guess in squares) >= max(
        MANY_PLATES, DOMINANCE_RATIO * rounds
    )
    with ThreadPoolExecutor() as pool:  # they do not look at each other's finds
        searches = [pool.submit(plates, squares, fleet or not len(radii))] if squares else []
        searches += [pool.submit(rectangles, view)] if ranked else []
        searches += [pool.submit(oval_ones, view, known.ovals)] if oblong and not fleet else []
        found += round_ones(view, known.rounds) if len(radii) and not fleet else ()
    found += [one for search in searches for one in search.result()]
    return _suppress_overlaps(found, 1.0) if ranked else _keep_dominant_kind(found)


def round_radii_mm(bases: Sequence[Base]) -> Array:
    """The radii (C,) of the round ones, ascending."""
    return np.array(sorted({base.width_mm / 2 for base in bases if base.shape == "circle"}))


def _count_likely(scores: Iterable[float]) -> int:
    """How many of the things that the look from above sees it takes for bases."""
    return sum(score > LIKELY_SCORE for score in scores)


def _keep_dominant_kind(detections: Sequence[Detection]) -> tuple[Detection, ...]:
    """What can stand there together; where plates outnumber round bases by far, all the plates and nothing else."""
    together = _suppress_overlaps(detections)
    plates = [one for one in detections if one.base.shape == "rectangle"]
    standing = sum(one.base.shape == "rectangle" for one in together)
    ships = standing and standing >= DOMINANCE_RATIO * (len(together) - standing)
    return _suppress_overlaps(plates) if ships else together


def _suppress_overlaps(
    detections: Sequence[Detection], hulls: float = PLATE_PREFERENCE
) -> tuple[Detection, ...]:
    """The detections without those that stand in a surer one, the surest first; plates count as `hulls` times surer."""
    kept: list[Detection] = []
    for one in sorted(
        detections,
        key=lambda one: (1 - one.score) / (hulls if one.base.shape == "rectangle" else 1),
    ):
        if all(
            one.base.shape == other.base.shape != "rectangle"
            or not bases_overlap(one, other, MAX_OVERLAP_SHARE)
            for other in kept
        ):
            kept.append(one)
    return tuple(sorted(kept, key=lambda one: -one.score))


def rectify_board(
    frame: Frame,
    calibration: Calibration,
    mm_per_px: float = OVERVIEW_MM_PER_PX,
    margin_mm: float = SEARCH_MARGIN_MM,
    within_mm: Array | None = None,
) -> Orthophoto:
    """The board and a margin, or the box `within_mm` (2, 2), as far as the photo shows them.

    Rectified to so many mm a pixel, or as the photo has them where that is coarser.
    """
    width, height = calibration.board_mm
    camera = calibration.camera
    scale = float(camera.mm_per_px(np.array([width / 2, height / 2, 0.0])))
    box = np.array([[-margin_mm, -margin_mm], [width + margin_mm, height + margin_mm]])
    if within_mm is not None:
        box = np.array([np.maximum(box[0], within_mm[0]), np.minimum(box[1], within_mm[1])])
    shown = (
        None
        if _shows_whole_box(camera, box, frame.size_px)
        else _photo_footprint(camera, frame.size_px)
    )
    if shown is not None:
        box = np.array([np.maximum(box[0], shown[0]), np.minimum(box[1], shown[1])])
    (left, bottom), (right, top) = box
    return rectify_photo(frame.pixels, camera, (left, bottom, right, top), max(scale, mm_per_px))


def _shows_whole_box(camera: Camera, box_mm: Array, size_px: tuple[int, int]) -> bool:
    """Whether the photo shows all corners of a box (2, 2): that is sooner known than all that it shows."""
    corners = camera.project(np.array([(x, y, 0.0) for x in box_mm[:, 0] for y in box_mm[:, 1]]))
    return bool(((corners >= 0) & (corners <= np.array(size_px) - 1)).all())


def _photo_footprint(camera: Camera, size_px: tuple[int, int]) -> Array | None:
    """The box (2, 2), lower left and upper right, round what the photo shows of z = 0; None with a horizon in it."""
    width, height = size_px
    u, v = np.linspace(0, width - 1, 9), np.linspace(0, height - 1, 9)
    border = [
        *[(x, y) for x in u for y in (v[0], v[-1])],
        *[(x, y) for y in v for x in (u[0], u[-1])],
    ]
    corners = camera.unproject(np.array(border))
    return np.array([corners.min(0), corners.max(0)]) if np.isfinite(corners).all() else None
