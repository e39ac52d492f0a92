"""The referee looks at a picture of the table and says what stands where.

frame → calibrate → detect → sharpen by the bases found → survey → report
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from overruler.bases import Base, catalogue
from overruler.board import Board
from overruler.calibration import Calibration
from overruler.frame import Frame
from overruler.geometry.pose import Array
from overruler.lens import Lens
from overruler.report import Report
from overruler.vision.calibrate import calibrate
from overruler.vision.detect import MARGIN_MM, detect
from overruler.vision.evidence import sharpened
from overruler.vision.survey import survey

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
        bases = self.bases if self.bases is not None else catalogue(self.game)
        found = detect(frame, calibration, bases, self._cards(calibration), self._margin_mm(calibration), progress)
        calibration, found = sharpened(frame, calibration, found)
        in_order = tuple(sorted(found, key=lambda detection: float(detection.xy_mm[0])))
        return Report(frame, calibration, in_order, survey(calibration, in_order, self.game))

    def watch(self, frames: Iterable[Frame]) -> Iterator[Report]:
        """A report for each picture of a source."""
        for frame in frames:
            yield self.look(frame)

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
