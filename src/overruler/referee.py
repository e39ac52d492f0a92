"""The referee measures a picture of the table and reports what stands where.

Its steps: calibrate the frame; find what lies on the table; settle where it stands; report. Then house
rules, corrections and what they taught are applied. Several photos take these steps together.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
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
from overruler.vision.assembly.one_photo import (
    ORTHOPHOTO_PIXEL_MM,
    PhotoKnowledge,
    find_all,
    report_photo,
    settle,
)
from overruler.vision.assembly.owners import apply_house_rules
from overruler.vision.assembly.taught_pieces import reweigh_pieces
from overruler.vision.camera.calibrate import calibrate
from overruler.vision.camera.observations import ClickedPoint
from overruler.vision.camera.shared_lens import calibrate_many
from overruler.vision.camera.told import NOTHING_TOLD, Told
from overruler.vision.detection.detect import (
    SEARCH_MARGIN_MM,
    detect,
    rectify_board,
)
from overruler.vision.detection.sizes import Sizes, round_radii_mm
from overruler.vision.imaging.veil import clear_veil
from overruler.vision.prints.printed_grid import PrintedGrid
from overruler.vision.refinement.lit_side import remeasure_by_lit_side
from overruler.vision.refinement.round_plane import correct_plane
from overruler.vision.rounds.remeasure import remeasure_base
from overruler.vision.rulers.find import ruler_footprints
from overruler.vision.terrain.declared import (
    board_cards_mm,
    raised_marker_ids,
)
from overruler.vision.terrain.sizes_on_top import reassess_sizes
from overruler.vision.terrain.standing_on import raise_pieces

if TYPE_CHECKING:
    from overruler.vision.several_cameras.watch import WatchSeveral
    from overruler.vision.tracking.watch import Watch


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
        """Measure a picture, alone or as one of several."""
        frame = clear_veil(frame)
        progress("finding the markers and the camera")
        calibration = self._calibrate_frame(frame)
        margin_mm = self._margin_mm(calibration)
        facts = self.game, self._known_bases(), self.terrain, self.flat, margin_mm
        known = PhotoKnowledge(self.board, *facts, is_one_of_several)
        finds = find_all(frame, calibration, known, progress)
        settled = settle(frame, calibration, finds, known)
        return report_photo(frame, finds, settled, known)

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
