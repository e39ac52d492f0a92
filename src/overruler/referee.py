"""The referee looks at a picture of the table and says what stands where.

frame → calibrate → rulers, grid and detect → hills, and what stands on them → sharpen by the bases → light → survey →
report
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, overload

import numpy as np

from overruler.bases import Base, catalogue
from overruler.board import Board
from overruler.calibration import Calibration
from overruler.detections import Detection
from overruler.errors import BadInput
from overruler.fixes import Fix
from overruler.frame import Frame
from overruler.geometry.pose import Array
from overruler.ground import Told
from overruler.house import House
from overruler.lens import Lens
from overruler.report import Report
from overruler.shot import Shot
from overruler.vision.assembly.corrections import corrected
from overruler.vision.assembly.owners import as_settled
from overruler.vision.assembly.to_scene import survey
from overruler.vision.camera.calibrate import calibrate
from overruler.vision.camera.problems import worst_first
from overruler.vision.camera.shared_lens import calibrate_many
from overruler.vision.contours.shading import light_of, low_light
from overruler.vision.detection.detect import MARGIN_MM, detect, look_from_above, radii_of
from overruler.vision.learned.hill_net import hill_map
from overruler.vision.refinement.base_scale import sharpened
from overruler.vision.refinement.lit_side import by_lit_side
from overruler.vision.refinement.marker_scale import size_doubted
from overruler.vision.rounds.remeasure import placed
from overruler.vision.rulers.find import contradictions, covered, find_rulers
from overruler.vision.rulers.hexgrid import find_grid, turned
from overruler.vision.terrain.by_base_sizes import by_sizes
from overruler.vision.terrain.declared import detect_on, on_top, told_ground
from overruler.vision.terrain.find import find_hills
from overruler.vision.terrain.sizes_on_top import resized
from overruler.vision.terrain.standing_on import raise_pieces

if TYPE_CHECKING:
    from overruler.vision.tracking.watch import Watch

LINES_MM = 1.6
"""A pixel of the picture from above in which rulers, grids and hills are looked for."""
CARD = 1.4
"""A marker's white card against its black square: nothing stands there."""


class Awaited(Sequence[Array]):
    """Polygons that are still being looked for: the first who asks for them waits."""

    def __init__(self, found: Callable[[], Sequence[Array]]) -> None:
        self._found = found

    @overload
    def __getitem__(self, which: int) -> Array: ...

    @overload
    def __getitem__(self, which: slice) -> Sequence[Array]: ...

    def __getitem__(self, which: int | slice) -> Array | Sequence[Array]:
        return self._found()[which]

    def __len__(self) -> int:
        return len(self._found())


@dataclass(frozen=True, slots=True, eq=False)
class Referee:
    """What is known before the picture is seen."""

    board: Board | None
    """The board and its markers; None where `points` say where things are."""
    points: Sequence[tuple[float, float, float, float]] = ()
    """Clicked places: u, v in pixels, x, y in mm."""
    lens: Lens | None = None
    game: str | None = None
    bases: Sequence[Base] | None = None
    """The bases to look for; None for the game's own, or the whole catalogue."""
    terrain: Sequence[Told] = ()
    """Raised ground that somebody told of."""
    fixes: Sequence[Fix] = ()
    """What somebody corrected in what is found."""
    house: House = field(default_factory=House)
    """What the table has settled for itself."""
    beside: Sequence[Frame] = ()
    """Other photos of the table by the same camera: what they say of its lens serves the one that is looked at."""

    def look(self, frame: Frame, progress: Callable[[str], None] = lambda text: None) -> Report:
        """Everything about one picture; `CannotMeasure` where it cannot be measured."""
        progress("finding the markers and the camera")
        calibration = self._calibrated(frame)
        ground = told_ground(frame, calibration, self.terrain, self.board)
        view = look_from_above(frame, calibration, LINES_MM, self._margin_mm(calibration))
        bases = self.bases if self.bases is not None else catalogue(self.game)
        with ThreadPoolExecutor(1) as aside:  # what is waited for soonest first
            measuring = aside.submit(find_rulers, frame, calibration, view)
            grid_seen = aside.submit(find_grid, view, calibration.board_mm)
            high = aside.submit(hill_map, view, calibration.camera)
            cards = [*self._cards(calibration), *ground.cards_mm(CARD)]
            hidden = Awaited(lambda: [*cards, *covered(measuring.result())])
            found = detect(frame, calibration, bases, hidden, self._margin_mm(calibration), progress)
        rulers, seen = measuring.result(), grid_seen.result()
        found = ground.joined(found, detect_on(frame, calibration, bases, ground, CARD, progress))
        hills = find_hills(view, high.result(), calibration, found, [area.id for area in ground.areas])
        found = resized(frame, calibration.camera, found, hills, radii_of(bases))
        areas = (*ground.areas, *by_sizes(frame, calibration, found, hills))
        found = raise_pieces(frame, calibration, found, areas)
        calibration, found = sharpened(frame, calibration, found)
        calibration = replace(calibration, light=light_of(view, calibration.camera, calibration.board_mm, found))
        found = tuple(by_lit_side(frame, calibration, one) for one in found)
        calibration = size_doubted(frame, calibration, found, radii_of(bases))
        in_order = tuple(sorted(found, key=lambda detection: float(detection.xy_mm[0])))
        more = (*low_light(calibration, found), *contradictions(rulers), *turned(seen))
        problems = worst_first((*calibration.problems, *more))
        calibration = replace(calibration, problems=problems)
        grid = seen.grid if seen is not None and seen.straight else None
        scene = survey(calibration, in_order, self.game, rulers, grid, areas)
        report = as_settled(Report(frame, calibration, in_order, scene, rulers=rulers, areas=areas), self.house)
        return corrected(report, self.fixes)

    def watch(self, source: Iterable[Frame | Shot]) -> Iterator[Report]:
        """A report for each photo of a source; of a film's shots, for each time that the table comes to rest."""
        watching = self.watching()
        for picture in source:
            if isinstance(picture, Frame):
                yield self.look(picture)
            elif (tick := watching.look(picture)).rest is not None:
                yield tick.rest

    def watching(self, patient: bool = False) -> "Watch":
        """Eyes for a film or a camera that stands still: shots in, ticks out; `patient` ones may take their time."""
        from overruler.vision.tracking.watch import Watch  # a photo needs none of it

        return Watch(self, self.house, self.bases if self.bases is not None else catalogue(self.game), patient)

    def find(
        self, frame: Frame, report: Report, bases: Sequence[Base] | None, within_mm: Array | None
    ) -> tuple[Detection, ...]:
        """The bases of a table that was looked at before, in a box (2, 2) of it or all over it.

        None for all bases that there may be.
        """
        calibration = report.calibration
        hidden = [*self._cards(calibration), *covered(report.rulers)]
        bases = bases if bases is not None else self.bases if self.bases is not None else catalogue(self.game)
        found = detect(frame, calibration, bases, hidden, self._margin_mm(calibration), within_mm=within_mm)
        found = resized(frame, calibration.camera, found, report.areas, radii_of(bases))
        return raise_pieces(frame, calibration, found, report.areas)

    def place(self, frame: Frame, report: Report, one: Detection) -> Detection | None:
        """A base of a table that was looked at before, measured anew by its known size; None where that is not seen."""
        again = placed(frame, report.calibration, one)
        return by_lit_side(frame, report.calibration, again) if again is not None else None

    def _calibrated(self, frame: Frame) -> Calibration:
        if not self.beside:
            return calibrate(frame, self.board, self.points, self.lens, on_top(self.terrain))
        if self.board is None or self.points:
            raise BadInput("photos share their lens by markers: leave the points away, or the other photos")
        return calibrate_many([frame, *self.beside], self.board, self.lens, on_top(self.terrain))[0]

    def _margin_mm(self, calibration: Calibration) -> float:
        """How far beyond the board bases may stand: far, where all that is known of it is the box round the markers."""
        known = self.board is not None and self.board.known
        return MARGIN_MM if known else max(calibration.board_mm) / 2

    def _cards(self, calibration: Calibration) -> list[Array]:
        """Where the markers' cards lie (4, 2) each, in mm: all of a board's, else those that are seen."""
        squares = list(calibration.squares_mm)
        if self.board is not None and self.board.corners_mm is not None:
            squares = [np.asarray(corners)[:, :2] for corners in self.board.corners_mm.values()]
        return [square.mean(0) + CARD * (square - square.mean(0)) for square in squares]
