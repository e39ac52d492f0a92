"""Tables photographed from several sides, with their truth, as `render_views.py` writes them."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from evaluate.accuracy import board_of
from evaluate.counting.tally import Truth
from overruler.bases import catalogue
from overruler.board import Board
from overruler.frame import Frame
from overruler.lens import Lens
from overruler.referee import Referee
from overruler.report import Report
from overruler.sources.photo import load_photo
from overruler.vision.camera.told import NOTHING_TOLD, Told
from overruler.vision.detection.sizes import Sizes
from overruler.vision.fusion.look_at_all import LookAtOne, look_at_all, see_all
from overruler.vision.fusion.photos_to_measure import TableKnowledge
from overruler.vision.hexagons.wanted import WantedHexagons
from overruler.vision.pairing.sighting import SeenPhoto

RADII_MM, HEXAGONS = Sizes.of(catalogue(None)).radii_mm, WantedHexagons.of(catalogue(None))
"""The radii of round bases and the hexagons that are looked for, as `Referee.look` does."""


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """One photo, and what its user tells of it."""

    frame: Frame
    lens: Lens | None = None
    board: Board | None = None
    """The board where the markers lay as this photo was taken; None for the table's."""


@dataclass(slots=True, eq=False)
class PhotoTable:
    """A table, its photos and its truth. Each photo is measured once by each lens told."""

    name: str
    board: Board
    photos: list[Shown]
    truths: list[Truth]
    """That of each photo: the same pieces and another camera."""
    whole: Truth
    """That of the table: of each piece how much of its rim each photo shows, and what moved."""
    _known: dict[tuple[int, bytes], tuple[Shown, Report | Exception]] = field(default_factory=dict)

    @property
    def truth(self) -> Truth:
        """That of the first photo."""
        return self.truths[0]

    def look(self, photos: Sequence[Shown]) -> Report:
        """Measure some photos together; `CannotMeasure` or `BadInput` where that is refused."""
        return look_at_all(*self._asked(photos))

    def see(self) -> list[SeenPhoto]:
        """What each photo shows by itself, as it is told by the others; raises as `look`."""
        return see_all(*self._asked(self.photos)).photos

    def _asked(
        self, photos: Sequence[Shown]
    ) -> tuple[list[Frame], LookAtOne, TableKnowledge, Callable[[str], None]]:
        """What some photos are measured by."""
        known = TableKnowledge(self.board, None, RADII_MM, hexagons=HEXAGONS)
        one = self._recall if self.board.layout_known else self._measure
        look: LookAtOne = lambda frame, k, board, told: one(  # noqa: E731
            replace(photos[k], frame=frame), photos[k], board, told
        )
        return [shown.frame for shown in photos], look, known, lambda text: None

    def look_alone(self, shown: Shown) -> Report:
        """Measure one photo by itself, as its user would."""
        return Referee(self.board, lens=shown.lens).look(shown.frame)

    def _recall(
        self, shown: Shown, key: Shown, board: Board | None, told: Told = NOTHING_TOLD
    ) -> Report:
        if told.calibration is not None:  # it hangs on other photos, in each set in another way
            return self._measure(shown, key, board, told)
        name = id(key), b"" if told.lens is None else told.lens.mean.tobytes()
        if name not in self._known:
            try:
                found: Report | Exception = self._measure(shown, key, board, told)
            except Exception as error:
                found = error
            self._known[name] = key, found
        _, found = self._known[name]
        if isinstance(found, Exception):
            raise found
        return found

    def _measure(self, shown: Shown, key: Shown, board: Board | None, told: Told) -> Report:
        if key.board is not None:
            board = key.board
        laid = board if self.board.layout_known else self.board
        return Referee(laid, lens=key.lens).look_at_one_of_several(shown.frame, 0, board, told)


def tables_in(folder: Path, only: Sequence[str] = ()) -> Iterator[PhotoTable]:
    """The tables of a folder by their names."""
    for path in sorted(folder.glob("*.json")):
        whole = json.loads(path.read_text())
        if "views" in whole and (not only or whole["table"] in only):
            yield _load(folder, whole)


def _load(folder: Path, whole: Truth) -> PhotoTable:
    photos = [folder / name for name in whole["views"]]
    truths = [json.loads(photo.with_suffix(".json").read_text()) for photo in photos]
    shown = [Shown(load_photo(photo)) for photo in photos]
    return PhotoTable(whole["table"], board_of(photos[0], truths[0]), shown, truths, whole)
