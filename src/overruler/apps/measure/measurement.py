"""The library's front door: `overruler.measure`, and the measurement that it returns.

import overruler

table = overruler.measure("table.jpg", board="6x3", game="legion")
table.ask("range p01 p02").sentence()  # 'range 3, 8.1 mm inside the line, certain'
"""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overruler.apps.measure.arguments import (
    base_text,
    path_or_none,
    point_texts,
    question_texts,
    several,
    text_or_none,
)
from overruler.apps.settings.measure_request import MeasureRequest
from overruler.errors import BadInput, MissingExtra
from overruler.geometry.covariance import REACH_SIGMAS
from overruler.reading import Node
from overruler.reading.fields import file_path
from overruler.units import SIGMAS_95, format_count

if TYPE_CHECKING:
    from overruler.bases import Base
    from overruler.report import Report
    from overruler.rules.pair_ranges import Matrix
    from overruler.scene import Scene
    from overruler.verdict import Verdict

NOTEBOOK_SIDE_PX = 960
"""Longer side of the picture in a notebook, in px."""


@dataclass(frozen=True, slots=True, eq=False)
class Measurement:
    """A measured photo of a table: pieces in millimetres with their doubt, and rulings."""

    report: "Report"
    """The report: frame, calibration, detections, scene, verdicts."""

    @property
    def scene(self) -> "Scene":
        """The scene: what `overruler ask` and the rules read."""
        return self.report.scene

    def ask(self, question: str | Mapping[str, Any]) -> "Verdict":
        """Answer a question in words (`range p01 p02`) or as an object; raises `BadInput`."""
        from overruler.rules import ask, read_question

        if isinstance(question, str):
            return ask(self.scene, read_question(self.scene.game, question, "question"))
        return ask(self.scene, question)

    def matrix(self) -> "Matrix":
        """Distances, ranges and probabilities of every pair, in arrays."""
        from overruler.rules import matrix

        return matrix(self.scene)

    def rows(self) -> list[dict[str, Any]]:
        """A row for each piece: `id`, `base`, `x_mm`, `y_mm`, `reach_mm` (95 %), `player`, `probability`."""
        return [self._row(index) for index in range(len(self.scene.pieces))]

    def to_pandas(self) -> Any:
        """The rows as a pandas data frame; raises `MissingExtra` without pandas."""
        try:
            import pandas
        except ImportError:
            raise MissingExtra("pandas is not installed: pip install pandas") from None
        return pandas.DataFrame(self.rows())

    def to_polars(self) -> Any:
        """The rows as a polars data frame; raises `MissingExtra` without polars."""
        try:
            import polars
        except ImportError:
            raise MissingExtra("polars is not installed: pip install polars") from None
        return polars.DataFrame(self.rows())

    def save_scene(self, path: str | Path) -> None:
        """Write the scene file, whole or not at all."""
        self.scene.save(path)

    def save_picture(self, path: str | Path) -> None:
        """Write the annotated photo, whole or not at all; raises `BadInput` for an unknown ending."""
        from overruler import picture

        picture.save(self.report, path)

    def __repr__(self) -> str:
        rulings = "; ".join(verdict.sentence() for verdict in self.report.verdicts[:1])
        pieces = format_count(len(self.scene.pieces), "piece")
        return f"<Measurement of {self.report.frame.name}: {pieces}{rulings and f'; {rulings}'}>"

    def _repr_html_(self) -> str:
        """The picture, the rulings and a table of the pieces, for a notebook."""
        rulings = "".join(f"<p><b>{escape(v.sentence())}</b></p>" for v in self.report.verdicts)
        rows = self.rows()
        head = "".join(f"<th>{escape(name)}</th>" for name in (rows[0] if rows else ()))
        body = "".join(_html_row(row) for row in rows)
        source = f"data:image/jpeg;base64,{b64encode(self._jpeg()).decode()}"
        image = f'<img alt="{escape(self.report.frame.name)}" src="{source}">'
        return f"{image}{rulings}<table><tr>{head}</tr>{body}</table>"

    def _jpeg(self) -> bytes:
        """The annotated photo, as small as a notebook."""
        from overruler import picture
        from overruler.picture.raster import encode_small_jpeg

        return encode_small_jpeg(picture.annotated_pixels(self.report), NOTEBOOK_SIDE_PX)

    def _row(self, index: int) -> dict[str, Any]:
        piece, covariance = self.scene.pieces[index], self.scene.covariance
        reach_mm = None
        if covariance is not None:
            sigma_mm = covariance.max_relative_shift_mm(None, index) / REACH_SIGMAS
            reach_mm = round(SIGMAS_95 * sigma_mm, 3)
        return {
            "id": piece.id,
            "base": piece.base.name,
            "x_mm": round(piece.x_mm, 3),
            "y_mm": round(piece.y_mm, 3),
            "reach_mm": reach_mm,
            "player": piece.player,
            "probability": piece.extra.get("probability"),
        }


def measure(
    photo: str | Path | Sequence[str | Path],
    *,
    board: str | Path | None = None,
    marker_mm: float | None = None,
    points: Sequence[str | Sequence[float]] = (),
    dictionary: str | None = None,
    lens: str | Path | None = None,
    game: str | None = None,
    bases: "str | float | Sequence[str | float | Base] | None" = None,
    terrain: str | Path | None = None,
    fix: str | Path | None = None,
    taught: str | Path | None = None,
    units: str | None = None,
    ask: str | Mapping[str, Any] | Sequence[str | Mapping[str, Any]] = (),
) -> Measurement:
    """Measure a photo, several of one table, or a film of a walk round it.

    The arguments are the options of `overruler measure`; board, lens, terrain, fix and taught are files.

    Args:
        points: places as text `"U,V=X,Y"` or as four numbers: pixels (u, v), and mm (x, y) on the board.
        bases: sizes in mm: `"27,50"`, or a list such as `[27, "75x42o"]`.
        units: `"mm"` or `"in"`, in which sentences tell lengths.
        ask: one question or several, each in words (`"range p01 p02"`) or as an object.

    Without `board`, `marker_mm` and `points` the markers tell the board. Raises `BadInput` for what is
    wrong with an argument, `CannotMeasure` for a photo.
    """
    from overruler.apps.measure.measuring import measure_photo
    from overruler.apps.measure.options import load_options, with_default_board

    photos = several("photo", photo, (str, Path))
    if not photos:
        raise BadInput("no photo is given")
    first, *more = (file_path(each, "measure", "photo") for each in photos)
    request = MeasureRequest(
        photo=first,
        more=tuple(more),
        board=path_or_none("board", board),
        marker_mm=None if marker_mm is None else Node(marker_mm, "marker_mm").positive(),
        point=point_texts(points),
        dictionary=text_or_none("dictionary", dictionary),
        lens=path_or_none("lens", lens),
        game=text_or_none("game", game),
        bases=base_text(bases),
        terrain=path_or_none("terrain", terrain),
        fix=path_or_none("fix", fix),
        taught=path_or_none("taught", taught),
        units=text_or_none("units", units),
        ask=question_texts(ask),
    )
    options = load_options(with_default_board(request))
    report = measure_photo(options, lambda text: None)
    for problem in report.unanswered.values():
        raise BadInput(problem)
    return Measurement(report)


def _html_row(row: Mapping[str, Any]) -> str:
    cells = ("" if value is None else escape(str(value)) for value in row.values())
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
