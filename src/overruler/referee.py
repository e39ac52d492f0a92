"""The referee looks at a picture of the table and says what stands where.

frame → calibrate → rulers, grid and detect → hills, and what stands on them → sharpen by the bases → light →
scale → report
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, overload

import numpy as np

from overruler.bases import Base, catalogue
from overruler.board import Board
from overruler.calibration import Calibration
from overruler.declared_terrain import DeclaredTerrain
from overruler.detections import Detection
from overruler.errors import BadInput
from overruler.fixes import Fix
from overruler.frame import Frame
from overruler.geometry.pose import Array
from overruler.house_rules import HouseRules
from overruler.lens import Lens
from overruler.report import Report
from overruler.shot import Shot
from overruler.vision.assembly.corrections import apply_corrections
from overruler.vision.assembly.owners import apply_house_rules
from overruler.vision.assembly.to_scene import build_scene
from overruler.vision.camera.calibrate import calibrate
from overruler.vision.camera.problems import sort_by_severity
from overruler.vision.camera.shared_lens import calibrate_many
from overruler.vision.contours.shading import check_low_light, estimate_light
from overruler.vision.detection.detect import SEARCH_MARGIN_MM, detect, rectify_board
from overruler.vision.detection.finders import round_radii_mm
from overruler.vision.learned.hill_net import predict_hill_map
from overruler.vision.refinement.base_scale import refine_by_bases
from overruler.vision.refinement.lit_side import remeasure_by_lit_side
from overruler.vision.refinement.marker_scale import flag_marker_size
from overruler.vision.refinement.scale_doubt import doubt_scale
from overruler.vision.rounds.remeasure import remeasure_base
from overruler.vision.rulers.find import find_rulers, ruler_footprints, ruler_problems
from overruler.vision.rulers.hexgrid import find_grid, grid_problems
from overruler.vision.terrain.by_base_sizes import heights_from_base_sizes
from overruler.vision.terrain.declared import detect_on_ground, locate_ground, raised_marker_ids
from overruler.vision.terrain.find import find_hills
from overruler.vision.terrain.sizes_on_top import reassess_sizes
from overruler.vision.terrain.standing_on import raise_pieces

if TYPE_CHECKING:
    from overruler.vision.tracking.watch import Watch

ORTHOPHOTO_PIXEL_MM = 1.6
"""A pixel of the picture from above in which rulers, grids and hills are looked for."""
CARD_TO_MARKER_RATIO = 1.4
"""A marker's white card against its black square: nothing stands there."""


class LazyPolygons(Sequence[Array]):
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
    terrain: Sequence[DeclaredTerrain] = ()
    """Raised ground that somebody told of."""
    fixes: Sequence[Fix] = ()
    """What somebody corrected in what is found."""
    house: HouseRules = field(default_factory=HouseRules)
    """What the table has settled for itself."""
    beside: Sequence[Frame] = ()
    """Other photos of the table by the same camera: what they say of its lens serves the one that is looked at."""

    def look(self, frame: Frame, progress: Callable[[str], None] = lambda text: None) -> Report:
        """Everything about one picture; `CannotMeasure` where it cannot be measured."""
        progress("finding the markers and the camera")
        calibration = self._calibrate_frame(frame)
        ground = locate_ground(frame, calibration, self.terrain, self.board)
        view = rectify_board(frame, calibration, ORTHOPHOTO_PIXEL_MM, self._margin_mm(calibration))
        bases = self.bases if self.bases is not None else catalogue(self.game)
        with ThreadPoolExecutor(1) as aside:  # what is waited for soonest first
            measuring = aside.submit(find_rulers, frame, calibration, view)
            grid_seen = aside.submit(find_grid, view, calibration.board_mm)
            high = aside.submit(predict_hill_map, view, calibration.camera)
            cards = [*self._card_squares_mm(calibration), *ground.cards_mm(CARD_TO_MARKER_RATIO)]
            hidden = LazyPolygons(lambda: [*cards, *ruler_footprints(measuring.result())])
            found = detect(
                frame, calibration, bases, hidden, self._margin_mm(calibration), progress
            )
        rulers, seen = measuring.result(), grid_seen.result()
        found = ground.merge_detections(
            found,
            detect_on_ground(frame, calibration, bases, ground, CARD_TO_MARKER_RATIO, progress),
        )
        hills = find_hills(
            view, high.result(), calibration, found, [area.id for area in ground.areas]
        )
        found = reassess_sizes(frame, calibration.camera, found, hills, round_radii_mm(bases))
        areas = (*ground.areas, *heights_from_base_sizes(frame, calibration, found, hills))
        found = raise_pieces(frame, calibration, found, areas)
        calibration, found = refine_by_bases(frame, calibration, found)
        calibration = replace(
            calibration, light=estimate_light(view, calibration.camera, calibration.board_mm, found)
        )
        found = tuple(remeasure_by_lit_side(frame, calibration, one) for one in found)
        calibration = flag_marker_size(frame, calibration, found, round_radii_mm(bases))
        calibration = doubt_scale(frame, calibration, self.board, found, rulers)
        in_order = tuple(sorted(found, key=lambda detection: float(detection.xy_mm[0])))
        more = (*check_low_light(calibration, found), *ruler_problems(rulers), *grid_problems(seen))
        problems = sort_by_severity((*calibration.problems, *more))
        calibration = replace(calibration, problems=problems)
        grid = seen.grid if seen is not None and seen.is_aligned else None
        scene = build_scene(calibration, in_order, self.game, rulers, grid, areas)
        report = apply_house_rules(
            Report(frame, calibration, in_order, scene, rulers=rulers, areas=areas), self.house
        )
        return apply_corrections(report, self.fixes)

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

        return Watch(
            self,
            self.house,
            self.bases if self.bases is not None else catalogue(self.game),
            patient,
        )

    def redetect_bases(
        self, frame: Frame, report: Report, bases: Sequence[Base] | None, within_mm: Array | None
    ) -> tuple[Detection, ...]:
        """The bases of a table that was looked at before, in a box (2, 2) of it or all over it.

        None for all bases that there may be.
        """
        calibration = report.calibration
        hidden = [*self._card_squares_mm(calibration), *ruler_footprints(report.rulers)]
        bases = (
            bases
            if bases is not None
            else self.bases
            if self.bases is not None
            else catalogue(self.game)
        )
        found = detect(
            frame, calibration, bases, hidden, self._margin_mm(calibration), within_mm=within_mm
        )
        found = reassess_sizes(
            frame, calibration.camera, found, report.areas, round_radii_mm(bases)
        )
        return raise_pieces(frame, calibration, found, report.areas)

    def remeasure_base(self, frame: Frame, report: Report, one: Detection) -> Detection | None:
        """A base of a table that was looked at before, measured anew by its known size; None where that is not seen."""
        again = remeasure_base(frame, report.calibration, one)
        return (
            remeasure_by_lit_side(frame, report.calibration, again) if again is not None else None
        )

    def _calibrate_frame(self, frame: Frame) -> Calibration:
        if not self.beside:
            return calibrate(
                frame, self.board, self.points, self.lens, raised_marker_ids(self.terrain)
            )
        if self.board is None or self.points:
            raise BadInput(
                "photos share their lens by markers: leave the points away, or the other photos"
            )
        return calibrate_many(
            [frame, *self.beside], self.board, self.lens, raised_marker_ids(self.terrain)
        )[0]

    def _margin_mm(self, calibration: Calibration) -> float:
        """How far beyond the board bases may stand: far, where all that is known of it is the box round the markers."""
        known = self.board is not None and self.board.layout_known
        return SEARCH_MARGIN_MM if known else max(calibration.board_mm) / 2

    def _card_squares_mm(self, calibration: Calibration) -> list[Array]:
        """Where the markers' cards lie (4, 2) each, in mm: all of a board's, else those that are seen."""
        squares = list(calibration.squares_mm)
        if self.board is not None and self.board.corners_mm is not None:
            squares = [np.asarray(corners)[:, :2] for corners in self.board.corners_mm.values()]
        return [
            square.mean(0) + CARD_TO_MARKER_RATIO * (square - square.mean(0)) for square in squares
        ]
