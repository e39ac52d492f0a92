"""What a picture tells: each ruling as words, a look, and the places on the board that it rests on."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from overruler.games import facts_of
from overruler.geometry.pose import Array
from overruler.picture.answer_style import (
    CLOSE_STYLE,
    MEASURED_STYLE,
    NO_STYLE,
    YES_STYLE,
    AnswerStyle,
)
from overruler.scene import Piece, Scene
from overruler.units import format_length
from overruler.verdict import TOO_CLOSE, Verdict


@dataclass(frozen=True, slots=True, eq=False)
class DrawableRuling:
    """One ruling, ready to be drawn."""

    style: AnswerStyle
    headline: str
    detail: str
    line_label: str
    """A few words for the measured line."""
    distance_mm: float
    sigma_mm: float
    from_mm: Array
    """(2,): where the measured line begins."""
    to_mm: Array
    from_piece: Piece | None
    to_piece: Piece | None
    lines_mm: tuple[float, ...] = ()
    """The distances from the first piece at which the answer changes, ascending."""
    segment_mm: float | None = None
    """What the lines are numbered by."""
    arc_mm: tuple[Array, ...] = ()
    """The straight borders (2, 2) of the arc that it is about, as far as a ruler reaches."""

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The pieces it is about."""
        return tuple(piece for piece in (self.from_piece, self.to_piece) if piece)

    @property
    def z_mm(self) -> float:
        """The height at which the line is drawn: that of the higher base."""
        return max((piece.z_mm for piece in self.pieces), default=0.0)

    @property
    def nearest_line_mm(self) -> float | None:
        """The line nearest to the measured distance."""
        return min(self.lines_mm, key=lambda line: abs(line - self.distance_mm), default=None)

    def line_name(self, line_mm: float) -> str:
        """What a line is called: its number on the ruler, or its distance."""
        number = line_mm / self.segment_mm if self.segment_mm else 0.0
        return (
            f"{number:.0f}" if number and abs(number - round(number)) < 1e-6 else f"{line_mm:g} mm"
        )


def drawable_rulings(scene: Scene, verdicts: Sequence[Verdict]) -> list[DrawableRuling]:
    """The rulings about two places on the board, in their order."""
    return [
        drawable_ruling(scene, verdict)
        for verdict in map(_with_drawn_points, verdicts)
        if verdict.from_point_mm and verdict.to_point_mm
    ]


def _with_drawn_points(verdict: Verdict) -> Verdict:
    """A ruling that rests on no distance is shown between the two that it is about."""
    if verdict.from_point_mm or not verdict.drawn_between_mm:
        return verdict
    return replace(
        verdict, from_point_mm=verdict.drawn_between_mm[0], to_point_mm=verdict.drawn_between_mm[1]
    )


def drawable_ruling(scene: Scene, verdict: Verdict) -> DrawableRuling:
    """One ruling as it is drawn."""
    pieces = {piece.id: piece for piece in scene.pieces}
    pair = verdict.pair or ("", "")
    headline, reason = split_sentence(verdict)
    return DrawableRuling(
        style=style_of(verdict),
        headline=f"{pair[0]} → {pair[1]}: {headline}" if verdict.pair else headline,
        detail="  ·  ".join(
            part for part in (reason, _measure_text(verdict, scene.game, bool(reason))) if part
        ),
        line_label=re.sub(r" \(\d+ %\)", "", reason)
        if verdict.call == TOO_CLOSE
        else headline.removesuffix(" (95 %)"),
        distance_mm=verdict.distance_mm or 0.0,
        sigma_mm=verdict.sigma_mm or 0.0,
        from_mm=np.array(verdict.from_point_mm),
        to_mm=np.array(verdict.to_point_mm),
        from_piece=pieces.get(pair[0]),
        to_piece=pieces.get(pair[1]),
        lines_mm=verdict.lines_mm,
        segment_mm=scene.segment_mm,
        arc_mm=tuple(map(np.array, verdict.borders_mm)),
    )


def split_sentence(verdict: Verdict) -> tuple[str, str]:
    """The answer in a few words, and the rest of the ruling's sentence."""
    sentence = verdict.sentence()
    for answer, joint in ((TOO_CLOSE, ": "), (verdict.headline, ", ")):
        if sentence.startswith(answer):
            return answer, sentence[len(answer) :].removeprefix(joint)
    return verdict.headline, sentence


def _measure_text(verdict: Verdict, game: str, after_reason: bool) -> str:
    """What was measured; where the headline is the measure itself, what it lies between."""
    if verdict.distance_mm is None:
        return ""
    distance, reach = verdict.distance_mm, 1.96 * (verdict.sigma_mm or 0.0)
    if after_reason or not reach:
        told = format_distance(distance, reach, game)
        return "" if verdict.headline == told else told
    return f"95 %: between {format_distance(max(distance - reach, 0.0), 0.0, game)} and {format_distance(distance + reach, 0.0, game)}"


def format_distance(distance_mm: float, reach_mm: float, game: str) -> str:
    """A distance with its 95 % to either side, in the game's own unit; an exact one without."""
    return format_length(distance_mm, reach_mm, facts_of(game).in_inches)


def style_of(verdict: Verdict) -> AnswerStyle:
    """Too close where the odds say so; measured where nothing is ruled; out where it is no, out of arc or past the
    ruler."""
    if verdict.call == TOO_CLOSE:
        return CLOSE_STYLE
    if verdict.value is None and not verdict.lines_mm and not verdict.borders_mm:
        return MEASURED_STYLE
    return NO_STYLE if verdict.value is None or verdict.value is False else YES_STYLE
