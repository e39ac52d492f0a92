"""The finders of bases: one entry of `FINDERS` for each kind of base.

To add a finder, write a function that takes a `Search` and returns detections, and add an entry.
"""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from overruler.calibration import Calibration
from overruler.detections import Detection
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.units import format_count
from overruler.vision.detection.bare_cells import without_bare_rounds
from overruler.vision.detection.seen_in_play import (
    SeenInPlay,
    join_looks,
    see_in_play,
    visible_in_play,
    visible_shapes,
)
from overruler.vision.detection.sizes import Sizes, is_plate
from overruler.vision.imaging.orthophoto import Orthophoto
from overruler.vision.learned.disc_net import NO_DISCS, Discs, find_discs
from overruler.vision.learned.in_play_net import look_in_play
from overruler.vision.learned.rim_net import estimate_rims
from overruler.vision.learned.shape_net import ShapeCandidate, find_plate_candidates
from overruler.vision.learned.shapes_in_play import NO_SHAPES, SeenShapes
from overruler.vision.prints.printed_grid import PrintOnMat, nothing_printed
from overruler.vision.rounds.find_ovals import find_ovals
from overruler.vision.rounds.fit_rounds import fit_rounds, is_in_play, is_seen_from_low, slant_deg
from overruler.vision.rounds.ring_filter import are_visible, find_candidates
from overruler.vision.rounds.scoring import MIN_SCORE
from overruler.vision.rounds.suppression import suppress_overlaps
from overruler.vision.rounds.table_sizes import covers_catalogue

if TYPE_CHECKING:
    from overruler.vision.plates.regiment_net import SeenCells

DOMINANCE_RATIO = 2.0
"""Plates outnumber round bases by this factor on a table of ships."""
LIKELY_SCORE = 0.5
"""A candidate of the whole-table networks above this probability counts as likely."""
MANY_PLATES = 5
"""From this number of likely plates on, if they dominate, a table is taken for one of ships.

On tables of ships the networks take at least 7 things for plates, on 68 other tables at most 3; but
on printed rooms more."""
REGIMENT = 5
"""From this number of rectangles on that are no plates, a table of ships is one of regiments.

The plates' finder takes squares of 40 mm for plates, but it does not know those in contact."""


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """One photo, the bases to search for, and the answers of the whole-table networks."""

    frame: Frame
    """The photo."""
    calibration: Calibration
    """Its calibration."""
    view: Orthophoto
    """The searched part of the board."""
    sizes: Sizes
    """The bases to search for."""
    hidden: Sequence[Array]
    """Polygons (K, 2) in mm where nothing is searched for."""
    rings: bool
    """Whether the ring filter adds candidates for round bases."""
    progress: Callable[[str], None]
    """Receives a line about each step."""
    discs: Discs
    """Possible round bases and ovals."""
    plate_candidates: list[ShapeCandidate]
    """Possible plates."""
    unnamed: "Future[SeenCells | None] | None"
    """Possible rectangles that nobody named, if any; None where none are looked for."""
    sizes_chosen: bool
    """Whether somebody chose a game or sizes."""
    seen: SeenShapes | None
    """What the network in play sees, on a table in play."""
    from_low: SeenInPlay | None
    """What the networks for tables in play see, on a prepared table that is seen from low down."""
    is_fleet: bool
    """Whether this looks like a table of ships: less will do for a plate there, and the whole-table
    network alone proposes round bases."""
    least_score: float = MIN_SCORE
    """Least score of a round base."""
    printed: PrintOnMat = nothing_printed
    """What is printed on the mat."""

    @property
    def slant_deg(self) -> float:
        """The angle from straight down at which the camera sees the middle of the board."""
        return slant_deg(self.calibration)

    @classmethod
    def begin(
        cls,
        frame: Frame,
        calibration: Calibration,
        view: Orthophoto,
        sizes: Sizes,
        hidden: Sequence[Array],
        rings: bool,
        progress: Callable[[str], None],
        least_score: float = MIN_SCORE,
        printed: PrintOnMat = nothing_printed,
    ) -> "Search":
        """Run the whole-table networks."""
        camera = calibration.camera
        discs, everywhere = NO_DISCS, NO_SHAPES
        sizes_chosen = not covers_catalogue(sizes.radii_mm)
        in_play = is_in_play(calibration, sizes.radii_mm)
        seeks_curved = bool(len(sizes.radii_mm) or sizes.ovals or sizes.stadiums)
        if seeks_curved and in_play:
            discs, everywhere = see_in_play(frame, camera, view)
        elif seeks_curved:
            discs = find_discs(view, camera)
        unnamed = None
        if rings and not sizes_chosen:
            beside = ThreadPoolExecutor(1)  # where plates wait for `hidden`, a processor is free
            unnamed = beside.submit(_look_for_unnamed, frame, camera, view, hidden)
            beside.shutdown(wait=False)
        plates = find_plate_candidates(view, camera, hidden) if sizes.plate_sides_mm else []
        rounds = _count_likely(discs.rounds[:, 3])
        likely_plates = _count_likely(candidate.score for candidate in plates)
        is_fleet = not sizes_chosen and are_ships(likely_plates, rounds)
        seen = visible_shapes(view, hidden, everywhere) if in_play else None
        from_low = None
        if rings and seeks_curved and is_seen_from_low(calibration, sizes.radii_mm):
            from_low = visible_in_play(frame, camera, view, hidden)
        known = (
            discs,
            plates,
            unnamed,
            sizes_chosen,
            seen,
            from_low,
            is_fleet,
            least_score,
            printed,
        )
        return cls(frame, calibration, view, sizes, hidden, rings, progress, *known)


@dataclass(frozen=True, slots=True)
class Finder:
    """A way to find one kind of base."""

    kind: str
    """The kind of base that it finds."""
    runs: Callable[[Search], bool]
    """Whether a search needs it."""
    find: Callable[[Search], Iterable[Detection]]
    """Find the bases. Finders run at the same time and do not see each other's results."""


def are_ships(plates: int, rounds: int) -> bool:
    """Tell whether so many plates beside so many round bases make a table of ships."""
    return plates >= max(MANY_PLATES, DOMINANCE_RATIO * rounds)


def _count_likely(scores: Iterable[float]) -> int:
    return sum(score > LIKELY_SCORE for score in scores)


def _find_rounds(search: Search) -> Iterable[Detection]:
    """Score candidates by the rim networks, and fit the likely ones."""
    rings = search.rings and not search.is_fleet
    found = _fit_candidates(search, search.discs.rounds, search.seen, rings)
    if search.from_low is None:
        return found
    discs, seen = search.from_low
    return join_looks(_fit_candidates(search, discs.rounds, seen, False), found)


def _fit_candidates(
    search: Search, known: Array, seen: SeenShapes | None, rings: bool
) -> Sequence[Detection]:
    """Score what the look from above `known` (K, 4), and what the network in play has `seen`; fit the likely ones."""
    radii = search.sizes.radii_mm
    candidates = find_candidates(search.view, radii.tolist(), search.hidden, known, rings=rings)
    circles = np.column_stack([candidates.xy_mm, candidates.radius_mm])
    if seen is not None:
        circles = np.concatenate([circles, seen.circles])
    if not len(circles):
        return ()
    search.progress(f"looking closer at {format_count(len(circles), 'candidate')}")
    look = None if seen is None else look_in_play
    estimates = estimate_rims(search.frame, search.calibration.camera, circles, look)
    chosen = estimates[np.array(suppress_overlaps(estimates, radii), int)]
    chosen = without_bare_rounds(search.printed(), chosen)
    search.progress(f"fitting {format_count(len(chosen.score), 'base')}")
    least, in_play = search.least_score, seen is not None
    return fit_rounds(search.frame, search.calibration, chosen, radii, least, known, in_play)


def _find_plates(search: Search) -> Iterable[Detection]:
    from overruler.vision.plates.find import find_plates  # not needed among many round bases

    camera, sides_mm = search.calibration.camera, search.sizes.plate_sides_mm
    expected = search.is_fleet or not len(search.sizes.radii_mm)
    return find_plates(search.frame, camera, search.plate_candidates, sides_mm, expected)


def _find_rectangles(search: Search) -> Iterable[Detection]:
    from overruler.vision.plates.rectangles import find_rectangles  # seldom needed

    camera, sizes = search.calibration.camera, search.sizes
    return find_rectangles(search.frame, camera, search.view, sizes.rectangles, search.hidden)


def _look_for_unnamed(
    frame: Frame, camera: Camera, view: Orthophoto, hidden: Sequence[Array]
) -> "SeenCells | None":
    from overruler.vision.plates.regiment_net import look_for_bases  # not needed for named sizes

    return look_for_bases(frame, camera, view, hidden)


def _find_regiments(search: Search) -> Iterable[Detection]:
    if search.seen is not None:
        from overruler.vision.plates.stands import find_stands, shows_stands  # tables in play alone

        if shows_stands(search.seen):
            return find_stands(search.calibration.camera, search.seen)

    from overruler.vision.plates.regiments import MIN_SCORE as LEAST_TOLD  # few tables have any
    from overruler.vision.plates.regiments import find_regiments

    frame, camera = search.frame, search.calibration.camera
    cells = None if search.unnamed is None else search.unnamed.result()
    if cells is None:
        return ()
    cells = cells.without_bare_cells(search.printed())
    search.progress(f"looking closer at {format_count(len(cells.guesses), 'base')} with corners")
    least = min(LEAST_TOLD, search.least_score)
    if search.is_fleet:
        rest = cells.without_plates()
        others = find_regiments(frame, camera, rest, least) if rest.is_likely else []
        if sum(one.score >= LEAST_TOLD for one in others) < REGIMENT:
            return [one for one in others if not is_plate(one.base)]
    return find_regiments(frame, camera, cells, least)


def _find_ovals(search: Search) -> Iterable[Detection]:
    found = _fit_ovals(search, search.discs.ovals, search.seen)
    if search.from_low is None:
        return found
    discs, seen = search.from_low
    return join_looks(_fit_ovals(search, discs.ovals, seen), found)


def _fit_ovals(search: Search, known: Array, seen: SeenShapes | None) -> list[Detection]:
    camera, starts = search.calibration.camera, visible(search, known)
    return find_ovals(search.frame, camera, search.sizes.ovals, starts, seen)


def visible(search: Search, candidates: Array) -> Array:
    """Return those of the candidates (N, K), x and y first, that nothing hides."""
    return candidates[are_visible(search.view, search.hidden, candidates[:, :2])]


def _may_have_stadiums(search: Search) -> bool:
    """Tell whether to look for bases with round ends; on tables in play only for named ones.

    No photograph of one was at hand: how often something else is taken for one there is not known.
    """
    return len(search.sizes.stadiums) > 0 and (search.sizes_chosen or search.seen is None)


def _find_stadiums(search: Search) -> Iterable[Detection]:
    from overruler.vision.rounds.find_stadiums import find_stadiums  # few tables have any

    discs = Discs(*(visible(search, some) for some in (search.discs.rounds, search.discs.ovals)))
    return find_stadiums(search.frame, search.calibration.camera, search.sizes.stadiums, discs)


UNNAMED = "rectangles that nobody named"
"""The kind of the finder of bases under regiments."""
FINDERS = (
    Finder("round bases", lambda search: len(search.sizes.radii_mm) > 0, _find_rounds),
    Finder("plates", lambda search: len(search.plate_candidates) > 0, _find_plates),
    Finder("other rectangles", lambda search: not search.sizes.only_plates, _find_rectangles),
    Finder(UNNAMED, lambda search: search.unnamed is not None, _find_regiments),
    Finder("ovals", lambda search: len(search.sizes.ovals) > 0, _find_ovals),
    Finder("stadiums", _may_have_stadiums, _find_stadiums),
)
"""All finders. Detections of equal score keep this order."""
