"""A verdict: the answer to one question, with what it rests on and how sure it is."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

from overruler.geometry.shapes import Point

CERTAIN, LIKELY, TOO_CLOSE = "certain", "likely", "too close to call"
CALL_THRESHOLDS = ((0.999, CERTAIN), (0.9, LIKELY))
"""The least probability of the likeliest answer for each call."""


@dataclass(frozen=True, slots=True)
class Change:
    """The least move that changes an answer."""

    to: Any
    """What the answer then is; a JSON value."""
    move_mm: float
    """How far."""
    direction: Point
    """The unit vector, in the board frame, along which the asking side moves."""

    def to_json(self) -> dict[str, Any]:
        return {"to": self.to, "move_mm": self.move_mm, "direction": list(self.direction)}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the rules say, for the places as measured, and how likely it is to be so."""

    answer: Mapping[str, Any]
    """The keys that the question asks for; JSON values."""
    headline: str
    """The answer in a few words: `range 3`, `not within range 2`."""
    rules: tuple[str, ...]
    """The clauses that it rests on, by their names in the game's table."""
    distance_mm: float | None = None
    """Between the two outlines; None where the answer rests on no distance."""
    sigma_mm: float | None = None
    """1 σ of that distance; 0 for exact places."""
    from_point_mm: Point | None = None
    to_point_mm: Point | None = None
    """The two points that the distance lies between."""
    pair: tuple[str, str] | None = None
    """The piece or terrain that each of them is on."""
    margin_mm: float | None = None
    """How far inside the nearest line that would change the answer; negative: how far outside."""
    lines_mm: tuple[float, ...] = ()
    """The distances at which the answer changes, ascending."""
    changes: tuple[Change, ...] = ()
    """What would change it, by moving the side that the question starts from: the next answer nearer, then the next
    farther; empty where no move is looked for."""
    value: Any = None
    """That part of the answer which `probability` is about."""
    null_text: str = "past the ruler"
    """How a null among the possible answers is read out."""
    probability: Mapping[str, float] | None = None
    """Of each possible answer, by its JSON text (`3`, `null`, `true`); None where every place is exact."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """The table's own choices that it rests on, by name."""
    question: Mapping[str, Any] = field(default_factory=dict)
    """What was asked."""
    drawn_between_mm: tuple[Point, Point] | None = None
    """For pictures: what lies between the two where the answer rests on no distance."""
    borders_mm: tuple[tuple[Point, Point], ...] = ()
    """For pictures: the straight borders of the arc that was asked about, as far as a ruler reaches."""

    def __bool__(self) -> NoReturn:
        raise TypeError("a verdict is neither true nor false: look at its answer, and at its call")

    def mixed_with(self, other: "Verdict", share: float) -> "Verdict":
        """With the probabilities as they are if all that was asked is as `other` has it, in this `share` of cases."""
        if self.probability is None or other.probability is None:
            return self
        parts = {
            key: _weighted_mean(value, other.answer[key], share)
            if key.endswith("_probability")
            else value
            for key, value in self.answer.items()
        }
        keys = dict.fromkeys((*self.probability, *other.probability))
        odds = {
            key: _weighted_mean(
                self.probability.get(key, 0.0), other.probability.get(key, 0.0), share
            )
            for key in keys
        }
        return replace(self, answer=parts, probability=odds)

    @property
    def likeliest(self) -> str | None:
        """The most probable answer, as JSON text."""
        odds = self.probability
        return max(odds, key=lambda key: odds[key]) if odds else None

    @property
    def call(self) -> str | None:
        """How sure the likeliest answer is; None where every place is exact."""
        if not self.probability:
            return None
        most = max(self.probability.values())
        return next((call for least, call in CALL_THRESHOLDS if most >= least), TOO_CLOSE)

    def to_json(self) -> dict[str, Any]:
        """The answer as the command line prints it."""
        found = dict(self.answer)
        for key in (
            "distance_mm",
            "sigma_mm",
            "from_point_mm",
            "to_point_mm",
            "margin_mm",
            "probability",
            "call",
        ):
            if (value := getattr(self, key)) is not None:
                found[key] = value
        if self.pair:
            found["from"], found["to"] = self.pair
        if self.changes:
            found["changes"] = [change.to_json() for change in self.changes]
        if self.settings:
            found["settings"] = dict(self.settings)
        return found | {"rules": list(self.rules)}

    # --- words ---

    def sentence(self) -> str:
        """One line for people: `range 3, 0.8 mm inside the line, certain`."""
        if self.call == TOO_CLOSE:
            return self._close_sentence()
        if self.likeliest not in (None, json.dumps(self.value)):
            return f"{self.call} {self._answer_text(self.likeliest)} ({self._percent_text()}), though as measured {self.headline}"
        sure = f"likely ({self._percent_text()})" if self.call == LIKELY else self.call
        return ", ".join(part for part in (self.headline, self._margin_text(), sure) if part)

    def _close_sentence(self) -> str:
        odds = self.probability or {}
        likeliest = sorted(odds, key=lambda key: -odds[key])[:2]
        return "too close to call: " + " or ".join(
            f"{self._answer_text(key)} ({100 * odds[key]:.0f} %)" for key in likeliest
        )

    def _margin_text(self) -> str:
        if self.margin_mm is None:
            return ""
        size = f"{abs(self.margin_mm):.1f}"
        if size == "0.0":
            return "on the line"
        return f"{size} mm {'inside' if self.margin_mm > 0 else 'outside'} the line"

    def _percent_text(self) -> str:
        percent = 100 * max((self.probability or {}).values())
        return f"{percent:.1f} %" if percent > 99 else f"{percent:.0f} %"

    def _answer_text(self, key: str | None) -> str:
        """How a possible answer, by its JSON text, is read out."""
        value = json.loads(key or "null")
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, list):
            return ", ".join(map(str, value)) or "none"
        return self.null_text if value is None else str(value)


def _weighted_mean(usual: float, other: float, share: float) -> float:
    return (1 - share) * usual + share * other
