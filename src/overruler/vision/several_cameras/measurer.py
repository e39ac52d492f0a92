"""What measures the picture of one of several cameras, on a board that all of them share."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from overruler.bases import Base
from overruler.board import Board
from overruler.detections import Detection
from overruler.errors import CannotMeasure
from overruler.frame import Frame
from overruler.geometry.pose import Array
from overruler.report import Report
from overruler.vision.fusion.common_board import map_free_markers
from overruler.vision.tracking.watch import RETRY_DELAY_S


class CameraMeasurer(Protocol):
    """Measures pictures of one of several cameras; the referee does."""

    def look_at_one_of_several(self, frame: Frame, index: int, board: Board | None) -> Report:
        """Measure all of the table in the picture of the camera of that number."""

    def redetect_bases(
        self, frame: Frame, report: Report, bases: Sequence[Base] | None, within_mm: Array | None
    ) -> tuple[Detection, ...]:
        """Find bases of these kinds, or of all, in a box (2, 2) or all over a known table."""

    def remeasure_base(self, frame: Frame, report: Report, one: Detection) -> Detection | None:
        """Measure a base of known size again; None where the picture tells no more."""


@dataclass(slots=True, eq=False)
class CommonBoard:
    """The board of all cameras; with markers that lie anywhere it is mapped by all of them first."""

    board: Board | None
    refusal: CannotMeasure | None = None
    """Why the markers could not be mapped so far."""
    _retry_s: float = -np.inf

    @property
    def is_known(self) -> bool:
        """Whether the cameras have one board frame."""
        return self.board is None or self.board.layout_known

    @property
    def is_mapped(self) -> bool:
        """Whether the markers' places were measured in the pictures."""
        return self.board is not None and self.board.covariance is not None

    def is_due(self, time_s: float) -> bool:
        """Whether it is time to map the markers, for the first time or once more."""
        return not self.is_known and time_s >= self._retry_s

    def map_markers(self, frames: Sequence[Frame], time_s: float, by_any: bool) -> list[str]:
        """Map the markers by a picture of each camera; return what stands against it, told once.

        With `by_any` one camera that shows enough of them may do it, where not all do.
        """
        if self.board is None:
            return []
        self._retry_s = time_s + RETRY_DELAY_S
        told = str(self.refusal)
        self._try_to_map(self.board, frames)
        if by_any and len(frames) > 1:
            for frame in frames:
                if not self.is_known:
                    self._try_to_map(self.board, [frame])
        return [] if self.is_known or str(self.refusal) == told else [str(self.refusal)]

    def _try_to_map(self, board: Board, frames: Sequence[Frame]) -> None:
        try:
            self.board = map_free_markers(frames, board)
        except CannotMeasure as error:
            self.refusal = error
            return
        if not self.is_known:
            self.refusal = CannotMeasure(
                f"{frames[0].name}: shows too few markers: have more of them in every picture"
            )


@dataclass(frozen=True, slots=True, eq=False)
class OneCameraMeasurer:
    """Measures the table in the pictures of one camera; a `TableMeasurer`."""

    measurer: CameraMeasurer
    index: int
    common: CommonBoard

    def look(self, frame: Frame) -> Report:
        return self.measurer.look_at_one_of_several(frame, self.index, self.common.board)

    def redetect_bases(
        self, frame: Frame, report: Report, bases: Sequence[Base] | None, within_mm: Array | None
    ) -> tuple[Detection, ...]:
        return self.measurer.redetect_bases(frame, report, bases, within_mm)

    def remeasure_base(self, frame: Frame, report: Report, one: Detection) -> Detection | None:
        return self.measurer.remeasure_base(frame, report, one)
