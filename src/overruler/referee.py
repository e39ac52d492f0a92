"""The referee measures a picture of the table and reports what stands where.

Its steps: calibrate the frame; find rulers, a grid and bases; find hills and the pieces on them; refine
the camera by the bases; estimate the light; weigh the witnesses of the scale; build the scene; report.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING

from overruler.bases import Base, catalogue
from overruler.board import Board
from overruler.calibration import Calibration
from overruler.declared_terrain import DeclaredTerrain
from overruler.detections import Detection
from overruler.errors import BadInput
from overruler.fixes import Fix
from overruler.frame import Frame, Shot
from overruler.geometry.pose import Array
from overruler.house_rules import HouseRules, named_game, tells_lengths
from overruler.lens import Lens
from overruler.reading.fields import check_kind, tuple_of
from overruler.report import Report
from overruler.taught import Taught
from overruler.vision.assembly.corrections import apply_corrections
from overruler.vision.assembly.owners import apply_house_rules
from overruler.vision.assembly.taught_pieces import reweigh_pieces
from overruler.vision.assembly.to_scene import build_scene
from overruler.vision.camera.calibrate import calibrate
from overruler.vision.camera.observations import ClickedPoint
from overruler.vision.camera.problems import sort_by_severity
from overruler.vision.camera.shared_lens import calibrate_many
from overruler.vision.camera.told import NOTHING_TOLD, Told
from overruler.vision.contours.shading import check_low_light, estimate_light
from overruler.vision.detection.detect import (
    SEARCH_MARGIN_MM,
    detect,
    rectify_board,
    split_doubtful,
)
from overruler.vision.detection.lazy_polygons import LazyPolygons
from overruler.vision.detection.sizes import Sizes, round_radii_mm
from overruler.vision.imaging.orthophoto import Orthophoto
from overruler.vision.imaging.veil import clear_veil, veil_problems
from overruler.vision.learned.hill_net import HillMap, predict_hill_map
from overruler.vision.prints.printed_grid import PrintedGrid
from overruler.vision.refinement.base_scale import refine_by_bases
from overruler.vision.refinement.lit_side import remeasure_by_lit_side
from overruler.vision.refinement.marker_scale import flag_marker_size
from overruler.vision.refinement.round_plane import correct_plane
from overruler.vision.refinement.scale_doubt import doubt_scale
from overruler.vision.rounds.fit_rounds import MIN_SCORE
from overruler.vision.rounds.remeasure import remeasure_base
from overruler.vision.rulers.find import find_rulers, ruler_footprints, ruler_problems
from overruler.vision.rulers.hexgrid import find_grid, grid_problems
from overruler.vision.terrain.declared import (
    board_cards_mm,
    detect_on_ground,
    locate_ground,
    raised_marker_ids,
)
from overruler.vision.terrain.raised import raise_found
from overruler.vision.terrain.sizes_on_top import reassess_sizes
from overruler.vision.terrain.standing_on import raise_pieces

if TYPE_CHECKING:
    from overruler.vision.several_cameras.watch import WatchSeveral
    from overruler.vision.tracking.watch import Watch

ORTHOPHOTO_PIXEL_MM = 1.6
"""Pixel size of the orthophoto for the detection of rulers, grids and hills."""
DOUBTFUL_SCORE = 0.15
"""Least score of what other photos may confirm as a base."""


@dataclass(frozen=True, slots=True, eq=False)
class Referee:
    """Measures pictures of a table, given what is known of it beforehand."""

    board: Board | None
    """The board and its markers; None where `points` give the correspondences."""
    points: Sequence[tuple[float, float, float, float]] = ()
    """Clicked correspondences (u, v, x, y): u and v in pixels, x and y in mm."""
    lens: Lens | None = None
    game: str | None = None
    """One of `GAMES`, or one of the program's presets; None where it is not known."""
    bases: Sequence[Base] | None = None
    """The bases to look for; None for the game's own, or the whole catalogue."""
    terrain: Sequence[DeclaredTerrain] = ()
    """Declared raised ground."""
    flat: bool = False
    """Whether there is no raised ground but the declared one."""
    fixes: Sequence[Fix] = ()
    """Corrections of what is found."""
    house: HouseRules = field(default_factory=HouseRules)
    """The house rules of the table."""
    beside: Sequence[Frame] = ()
    """Other photos of the table by the same camera; they constrain its lens."""
    lenses: Sequence[Lens | None] = ()
    """The lens of each of several photos, in their order; empty for `lens` in all."""
    taught: Taught | None = None
    """What corrections taught about this table; None for nothing."""
    laid_anywhere: bool = False
    """Whether the board is only a box round its markers, though these are at known places."""
    told: Told = NOTHING_TOLD
    """What is known of one of several photos beforehand."""

    def __post_init__(self) -> None:
        """Take the game and bases of a preset, named or given; `BadInput` names what is none of a referee's."""
        check_kind(self.board, (Board, type(None)), "Referee", "board")
        tuple_of(self.bases or (), Base, "Referee", "bases")
        game, preset = named_game(self.game, self.house.preset)
        object.__setattr__(self, "game", game)
        if preset is not None:
            object.__setattr__(self, "house", replace(self.house, preset=preset))
            object.__setattr__(self, "bases", self.bases or preset.bases)

    @tells_lengths
    def look(
        self,
        frame: Frame | Sequence[Frame],
        progress: Callable[[str], None] = lambda text: None,
        helper: Executor | None = None,
    ) -> Report:
        """Measure a picture, or several of one table; raise `CannotMeasure` where that is impossible.

        `progress` is called with each step's description. `helper` measures every other one of several
        pictures: another process, which need not wait for this one's interpreter.
        """
        if isinstance(frame, Frame):
            report = apply_house_rules(self._look_at(frame, progress), self.house)
        else:
            from overruler.vision.fusion.look_at_all import look_at_all
            from overruler.vision.fusion.owners import apply_house_rules_by_photo
            from overruler.vision.fusion.photos_to_measure import TableKnowledge
            from overruler.vision.hexagons.wanted import WantedHexagons

            clear = tuple(map(clear_veil, tuple_of(frame, Frame, "Referee.look", "photo")))
            bases, raised = self._known_bases(), raised_marker_ids(self.terrain)
            of_photos = raised, self.lenses or len(clear) * [self.lens]
            radii_mm, hexagons = Sizes.of(bases).radii_mm, WantedHexagons.of(bases)
            known = TableKnowledge(self.board, self.game, radii_mm, *of_photos, hexagons)
            report = look_at_all(clear, self.look_at_one_of_several, known, progress, helper)
            report = apply_house_rules_by_photo(report, self.house)
        return apply_corrections(reweigh_pieces(report, self.taught), self.fixes)

    @tells_lengths
    def look_at_one_of_several(
        self, frame: Frame, index: int, board: Board | None, told: Told = NOTHING_TOLD
    ) -> Report:
        """Measure one of several photos by a board that all of them may tell, as the rest `told`."""
        lens = self.lenses[index] if self.lenses else self.lens
        anywhere = board is not self.board
        one = replace(self, board=board, lens=lens, laid_anywhere=anywhere, told=told)
        return one._look_at(frame, lambda text: None, is_one_of_several=True)

    def _look_at(
        self, frame: Frame, progress: Callable[[str], None], is_one_of_several: bool = False
    ) -> Report:
        """Measure a picture; of one of several, what scores less than a base is reported as doubtful."""
        frame = clear_veil(frame)
        least = DOUBTFUL_SCORE if is_one_of_several else MIN_SCORE
        progress("finding the markers and the camera")
        calibration = self._calibrate_frame(frame)
        ground = locate_ground(frame, calibration, self.terrain, self.board)
        margin_mm = self._margin_mm(calibration)
        view = rectify_board(frame, calibration, ORTHOPHOTO_PIXEL_MM, margin_mm)
        bases = self._known_bases()
        with ThreadPoolExecutor(1) as aside:  # in the order in which the results are needed
            finding_rulers = aside.submit(find_rulers, frame, calibration, view)
            finding_print = aside.submit(PrintedGrid.of, view, calibration.board_mm)
            finding_grid = aside.submit(find_grid, view, calibration.board_mm)
            mapping_hills = self._map_hills(aside, view, calibration)
            cards = [*board_cards_mm(self.board, calibration), *ground.cards_mm()]
            hidden = LazyPolygons(lambda: [*cards, *ruler_footprints(finding_rulers.result())])
            known = (hidden, margin_mm, progress, None, least, finding_print.result)
            on_board, doubtful = split_doubtful(detect(frame, calibration, bases, *known))
        rulers, seen_grid = finding_rulers.result(), finding_grid.result()
        on_ground = detect_on_ground(frame, calibration, bases, ground, progress)
        found = ground.merge_detections(on_board, on_ground)
        seen_hills = None if mapping_hills is None else (view, mapping_hills.result())
        radii_mm = Sizes.of(bases).radii_mm if is_one_of_several else round_radii_mm(bases)
        ground_facts = ground.areas, seen_hills, radii_mm, not is_one_of_several
        found, areas = raise_found(frame, calibration, found, *ground_facts)
        calibration, found = refine_by_bases(frame, calibration, found)
        light = estimate_light(view, calibration.camera, calibration.board_mm, found)
        calibration = replace(calibration, light=light)
        found = tuple(remeasure_by_lit_side(frame, calibration, base) for base in found)
        if not is_one_of_several:
            calibration = flag_marker_size(frame, calibration, found, radii_mm)
        calibration = doubt_scale(frame, calibration, self.board, found, rulers)
        in_order = tuple(sorted(found, key=lambda detection: float(detection.xy_mm[0])))
        problems = [
            *calibration.problems,
            *check_low_light(calibration, found),
            *veil_problems(frame),
            *ruler_problems(rulers),
            *grid_problems(seen_grid),
        ]
        calibration = replace(calibration, problems=sort_by_severity(problems))
        grid = seen_grid.grid if seen_grid is not None and seen_grid.is_aligned else None
        scene = build_scene(calibration, in_order, self.game, rulers, grid, areas)
        return Report(
            frame,
            calibration,
            in_order,
            scene,
            rulers=rulers,
            areas=areas,
            board=self.board,
            doubtful=doubtful,
        )

    def watch(self, source: Iterable[Frame | Shot]) -> Iterator[Report]:
        """Report on each photo of a source; of a film's shots, each time the table comes to rest."""
        watching = self.watching()
        for picture in source:
            check_kind(picture, (Frame, Shot), "Referee.watch")
            if isinstance(picture, Frame):
                yield self.look(picture)
            elif (tick := watching.look(picture)).rest is not None:
                yield tick.rest

    def watching(self, patient: bool = False) -> "Watch":
        """A tracker for a film or a camera that stands still; a `patient` one may take its time."""
        from overruler.vision.tracking.watch import Watch  # a photo does not need it

        return Watch(self, self.house, self._known_bases(), patient)

    def watching_several(self, cameras: Sequence[str], patient: bool = False) -> "WatchSeveral":
        """A tracker for several cameras over one table, which stand still; their names go into notes."""
        from overruler.vision.several_cameras.watch import TableFacts, WatchSeveral

        bases = self._known_bases()
        known = TableFacts(self.board, self.game, self.house, bases, round_radii_mm(bases))
        return WatchSeveral(self, known, cameras, patient)

    def redetect_bases(
        self, frame: Frame, report: Report, bases: Sequence[Base] | None, within_mm: Array | None
    ) -> tuple[Detection, ...]:
        """Detect bases again on a table that has a report.

        `within_mm` is a box (2, 2) on the board, or None for all of it. `bases` are those to look
        for, or None for the referee's.
        """
        calibration = report.calibration
        hidden = [*board_cards_mm(self.board, calibration), *ruler_footprints(report.rulers)]
        bases = self._known_bases() if bases is None else bases
        margin_mm = self._margin_mm(calibration)
        printed = cache(
            lambda: PrintedGrid.of(
                rectify_board(frame, calibration, ORTHOPHOTO_PIXEL_MM), calibration.board_mm
            )
        )
        found = detect(
            frame, calibration, bases, hidden, margin_mm, within_mm=within_mm, printed=printed
        )
        radii_mm = round_radii_mm(bases)
        found = reassess_sizes(frame, calibration.camera, found, report.areas, radii_mm)
        return raise_pieces(frame, calibration, found, report.areas)

    def remeasure_base(self, frame: Frame, report: Report, one: Detection) -> Detection | None:
        """Measure a base of known size again; None where it is not seen."""
        again = remeasure_base(frame, report.calibration, one)
        return again and remeasure_by_lit_side(frame, report.calibration, again)

    def _map_hills(
        self, aside: ThreadPoolExecutor, view: Orthophoto, calibration: Calibration
    ) -> Future[HillMap] | None:
        """Start the search for hills; None where the table is flat."""
        if self.flat:
            return None
        return aside.submit(predict_hill_map, view, calibration.camera)

    def _known_bases(self) -> Sequence[Base]:
        return catalogue(self.game) if self.bases is None else self.bases

    def _calibrate_frame(self, frame: Frame) -> Calibration:
        raised_ids = raised_marker_ids(self.terrain)
        if not self.beside:

            def by_points(points: Sequence[ClickedPoint]) -> Calibration:
                return calibrate(frame, self.board, points, self.lens, raised_ids, self.told)

            first = by_points(self.points)
            if self.told.calibration is not None:
                return first
            radii_mm, margin_mm = round_radii_mm(self._known_bases()), self._margin_mm(first)
            return correct_plane(frame, first, self.points, radii_mm, margin_mm, by_points)
        if self.board is None or self.points:
            raise BadInput("photos share their lens by markers: give no points, or no other photos")
        return calibrate_many([frame, *self.beside], self.board, self.lens, raised_ids)[0]

    def _margin_mm(self, calibration: Calibration) -> float:
        """How far beyond the board bases may stand: far where it is only the box round its markers."""
        if self.board is not None and self.board.layout_known and not self.laid_anywhere:
            return SEARCH_MARGIN_MM
        return max(calibration.board_mm) / 2
