"""The content of a picture: each ruling as words, a look, and places on the board."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from overruler.games import Ruler
from overruler.geometry.pose import Array
from overruler.picture.answer_style import (
    CLOSE_STYLE,
    MEASURED_STYLE,
    NO_STYLE,
    YES_STYLE,
    AnswerStyle,
)
from overruler.picture.piece_names import arrow_text, piece_label
from overruler.scene import Piece, Scene
from overruler.units import SIGMAS_95, format_length, format_nominal
from overruler.verdict import TOO_CLOSE, Shade, Verdict

ORIGIN = (0.0, 0.0)
"""Where the line of a ruling without one begins and ends."""


@dataclass(frozen=True, slots=True, eq=False)
class DrawableRuling:
    """One ruling, ready to be drawn."""

    style: AnswerStyle
    answer: str
    """The answer in a few words."""
    detail: str
    line_label: str
    """A few words for the measured line."""
    distance_mm: float
    sigma_mm: float
    from_mm: Array
    """(2,): the beginning of the measured line."""
    to_mm: Array
    """(2,): its end."""
    from_piece: Piece | None
    to_piece: Piece | None
    unit: str
    """The unit in which the game's people read lengths."""
    lines_mm: tuple[float, ...]
    """The distances from the first piece at which the answer changes, ascending."""
    ruler: Ruler | None
    """The ruler by whose bands the lines are named."""
    arc_mm: tuple[Array, ...]
    """The straight borders (2, 2) of the arc in question, as far as a ruler reaches."""
    shades: tuple[Shade, ...]
    """The ground in question."""
    has_line: bool
    """Whether it concerns two places, with a line between them."""
    between: tuple[str, str] | None
    """The labels of the two pieces or terrains that it is about."""

    @property
    def headline(self) -> str:
        """What it is about, and the answer."""
        return f"{arrow_text(self.between)}: {self.answer}" if self.between else self.answer

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The pieces that the ruling is about."""
        return tuple(piece for piece in (self.from_piece, self.to_piece) if piece)

    @property
    def z_mm(self) -> float:
        """The height of the measured line: that of the higher base."""
        return max((piece.z_mm for piece in self.pieces), default=0.0)

    @property
    def nearest_line_mm(self) -> float | None:
        """The line nearest to the measured distance."""
        return min(self.lines_mm, key=lambda line: abs(line - self.distance_mm), default=None)

    def line_name(self, line_mm: float) -> str:
        """Return a line's name or number on the ruler, or its distance."""
        label = self.ruler.line_label(line_mm) if self.ruler else None
        return label or format_nominal(line_mm, self.unit)


def drawable_rulings(scene: Scene, verdicts: Sequence[Verdict]) -> list[DrawableRuling]:
    """Return the rulings that concern two places on the board, or some ground, the tightest first."""
    tightest_first = sorted(verdicts, key=lambda verdict: verdict.tightness_mm)
    located = map(_with_drawn_points, tightest_first)
    return [drawable_ruling(scene, v) for v in located if v.shades or _has_line(v)]


def _has_line(verdict: Verdict) -> bool:
    return bool(verdict.from_point_mm and verdict.to_point_mm)


def _with_drawn_points(verdict: Verdict) -> Verdict:
    """Give a ruling without a distance the points between which it is drawn."""
    if verdict.from_point_mm or not verdict.drawn_between_mm:
        return verdict
    start, end = verdict.drawn_between_mm
    return replace(verdict, from_point_mm=start, to_point_mm=end)


def drawable_ruling(scene: Scene, verdict: Verdict) -> DrawableRuling:
    """Return a ruling as it is drawn."""
    pieces = {piece.id: piece for piece in scene.pieces}
    first, second = verdict.pair or ("", "")
    answer, reason = split_sentence(verdict)
    measure = _measure_text(verdict, scene.unit)
    names = [shade.name for shade in verdict.shades]
    return DrawableRuling(
        style=style_of(verdict),
        answer=answer,
        detail="  ·  ".join(part for part in (*names, reason, measure) if part),
        line_label=_line_label(verdict, answer, reason),
        distance_mm=verdict.distance_mm or 0.0,
        sigma_mm=verdict.sigma_mm or 0.0,
        from_mm=np.array(verdict.from_point_mm or ORIGIN),
        to_mm=np.array(verdict.to_point_mm or ORIGIN),
        from_piece=pieces.get(first),
        to_piece=pieces.get(second),
        unit=scene.unit,
        lines_mm=verdict.lines_mm,
        ruler=scene.range_ruler,
        arc_mm=tuple(map(np.array, verdict.borders_mm)),
        shades=verdict.shades,
        has_line=_has_line(verdict),
        between=(_label_of(pieces, first), _label_of(pieces, second)) if verdict.pair else None,
    )


def _label_of(pieces: Mapping[str, Piece], name: str) -> str:
    """The label of a piece; of terrain its name."""
    return piece_label(pieces[name]) if name in pieces else name


def _line_label(verdict: Verdict, answer: str, reason: str) -> str:
    if verdict.call == TOO_CLOSE and isinstance(verdict.value, bool):
        return TOO_CLOSE
    if verdict.call == TOO_CLOSE:
        return re.sub(r" \(\d+ %\)", "", reason.removesuffix(f", {verdict.doubt_text}"))
    return answer.removesuffix(" (95 %)")


def split_sentence(verdict: Verdict) -> tuple[str, str]:
    """Split the ruling's sentence into a short answer and the rest."""
    sentence = verdict.sentence()
    for answer, joint in ((TOO_CLOSE, ": "), (verdict.headline, ", ")):
        if sentence.startswith(answer):
            return answer, sentence[len(answer) :].removeprefix(joint)
    return verdict.headline, sentence


def _measure_text(verdict: Verdict, unit: str) -> str:
    """Return the measured distance, unless the headline is the distance itself."""
    if verdict.distance_mm is None:
        return ""
    reach_mm = SIGMAS_95 * (verdict.sigma_mm or 0.0)
    text = format_length(verdict.distance_mm, reach_mm, unit)
    return "" if verdict.headline == text else text


def style_of(verdict: Verdict) -> AnswerStyle:
    """Return the look of a ruling's answer.

    A bare measurement rules nothing. "Out" stands for no, out of arc, or beyond the ruler.
    """
    if verdict.call == TOO_CLOSE:
        return CLOSE_STYLE
    if verdict.shades:
        return MEASURED_STYLE
    if verdict.value is None and not verdict.lines_mm and not verdict.borders_mm:
        return MEASURED_STYLE
    return NO_STYLE if verdict.value is None or verdict.value is False else YES_STYLE
