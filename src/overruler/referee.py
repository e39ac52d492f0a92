"""The referee looks at a picture of the table and says what stands where.

frame → calibrate → rulers and grid → detect → sharpen by the bases found → survey → report
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from overruler.bases import Base, catalogue
from overruler.board import Board
from overruler.calibration import Calibration
from overruler.detections import RulerSeen
from overruler.frame import Frame
from overruler.geometry.pose import Array
from overruler.lens import Lens
from overruler.report import Report
from overruler.vision.calibrate import calibrate
from overruler.vision.detect import MARGIN_MM, RADIUS_PX, detect, look_from_above
from overruler.vision.evidence import sharpened
from overruler.vision.hexgrid import GridSeen, find_grid, turned
from overruler.vision.problems import worst_first
from overruler.vision.rulers import contradictions, covered, find_rulers
from overruler.vision.survey import survey

LINES_MM = 1.6
"""A pixel of the picture from above in which rulers and grids are looked for."""
CARD = 1.4
"""A marker's white card against its black square: nothing stands there."""


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

    def look(self, frame: Frame, progress: Callable[[str], None] = lambda text: None) -> Report:
        """Everything about one picture; `CannotMeasure` where it cannot be measured."""
        progress("finding the markers and the camera")
        calibration = calibrate(frame, self.board, self.points, self.lens)
        progress("looking for rulers and a grid")
        rulers, seen = self._printed(frame, calibration)
        bases = self.bases if self.bases is not None else catalogue(self.game)
        hidden = [*self._cards(calibration), *covered(rulers)]
        found = detect(frame, calibration, bases, hidden, self._margin_mm(calibration), progress)
        calibration, found = sharpened(frame, calibration, found)
        in_order = tuple(sorted(found, key=lambda detection: float(detection.xy_mm[0])))
        problems = worst_first((*calibration.problems, *contradictions(rulers), *turned(seen)))
        calibration = replace(calibration, problems=problems)
        grid = seen.grid if seen is not None and seen.straight else None
        scene = survey(calibration, in_order, self.game, rulers, grid)
        return Report(frame, calibration, in_order, scene, rulers=rulers)

    def watch(self, frames: Iterable[Frame]) -> Iterator[Report]:
        """A report for each picture of a source."""
        for frame in frames:
            yield self.look(frame)

    def _printed(self, frame: Frame, calibration: Calibration) -> tuple[tuple[RulerSeen, ...], GridSeen | None]:
        """The range rulers that lie on the table, and the grid printed on it."""
        view = look_from_above(frame, calibration, LINES_MM * RADIUS_PX, self._margin_mm(calibration))
        return find_rulers(frame, calibration, view), find_grid(view, calibration.board_mm)

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
