"""The verdict on a question: the answer, its grounds and its probability."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any, NoReturn

from overruler.geometry.shapes import Point
from overruler.units import CONTACT_TOLERANCE_MM, MILLIMETRES, format_number, inches_from_mm

CERTAIN = "certain"
LIKELY = "likely"
TOO_CLOSE = "too close to call"
CERTAIN_PROBABILITY = 0.999
"""Least probability of an answer that is called certain."""
LIKELY_PROBABILITY = 0.9
"""Least probability of an answer that is called likely."""
CALL_THRESHOLDS = ((CERTAIN_PROBABILITY, CERTAIN), (LIKELY_PROBABILITY, LIKELY))
"""Each call with the least probability of its answer; below the last, the answer is too close to call."""
OPTIONAL_JSON_KEYS = (
    *("distance_mm", "sigma_mm", "from_point_mm", "to_point_mm"),
    *("margin_mm", "probability", "call"),
)
"""Attributes of a verdict that its JSON has where they are not None."""


@dataclass(frozen=True, slots=True)
class Change:
    """The smallest move that changes an answer."""

    to: Any
    """The answer after the move; a JSON value."""
    move_mm: float
    """Length of the move."""
    direction: Point
    """Unit vector in the board frame along which the asking side moves."""

    def to_json(self) -> dict[str, Any]:
        return {"to": self.to, "move_mm": self.move_mm, "direction": list(self.direction)}


Rings = list[list[list[float]]]
"""A polygon: its outline, and then its holes, each as points (x, y)."""


@dataclass(frozen=True, slots=True)
class Shade:
    """For pictures: some ground to shade, in mm on the board."""

    name: str
    """What it is, in words."""
    polygons_mm: Sequence[Rings]
    sure_mm: Sequence[Rings] = ()
    """What surely lies in it; empty where its border is exact."""
    possible_mm: Sequence[Rings] = ()
    """What may lie in it; empty where its border is exact."""
    labels_mm: tuple[tuple[str, Point], ...] = ()
    """Words on it, and where they stand."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer for the positions as measured, and its probability."""

    answer: Mapping[str, Any]
    """The values that the question asks for, by key; JSON values."""
    headline: str
    """The answer in a few words: `range 3`, `not within range 2`."""
    rules: tuple[str, ...]
    """The clauses that the answer rests on, by their names in the game's table."""
    distance_mm: float | None = None
    """Distance between the two outlines; None where the answer rests on no distance."""
    sigma_mm: float | None = None
    """1 σ of `distance_mm`; 0 for exact positions."""
    from_point_mm: Point | None = None
    """The end of that distance on the asking side."""
    to_point_mm: Point | None = None
    """Its other end."""
    pair: tuple[str, str] | None = None
    """Ids of the pieces or terrain that the two points lie on."""
    margin_mm: float | None = None
    """Distance to the nearest line that changes the answer: positive inside it, negative outside, 0 on it."""
    lines_mm: tuple[float, ...] = ()
    """The distances at which the answer changes, ascending."""
    changes: tuple[Change, ...] = ()
    """The smallest moves of the asking side to the next nearer answer, then to the next farther.

    Empty where no move is computed."""
    value: Any = None
    """The part of the answer that `probability` refers to; a JSON value."""
    null_text: str = "past the ruler"
    """The words for a null answer."""
    probability: Mapping[str, float] | None = None
    """Probability of each possible answer, by its JSON text (`3`, `null`, `true`).

    None where every position is exact."""
    unnamed: tuple[str, ...] = ()
    """Ids of pieces that the answer rests on, though neither it nor the question holds them."""
    rests_on: tuple[Mapping[str, Any], ...] = ()
    """The pieces it is about that may be none: each `id` with its `probability` or `by_hand`."""
    unit: str = MILLIMETRES
    """The unit of lengths in its sentence."""
    also_in_inches: bool = False
    """Whether its JSON has lengths in inches, too."""
    is_vague: bool = False
    """Whether a position that it rests on is so unsure that no answer is certain."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """The settings of the game that the answer rests on, by name."""
    question: Mapping[str, Any] = field(default_factory=dict)
    """The question."""
    drawn_between_mm: tuple[Point, Point] | None = None
    """For pictures: the two points to connect where the answer rests on no distance."""
    borders_mm: tuple[tuple[Point, Point], ...] = ()
    """For pictures: the straight borders of the arc in question, as long as a ruler."""

    shades: tuple[Shade, ...] = ()
    """For pictures: the ground in question."""

    def __post_init__(self) -> None:
        """Take what lies on a line, but for rounding, as on it, as the answer does."""
        if self.margin_mm and abs(self.margin_mm) <= CONTACT_TOLERANCE_MM:
            object.__setattr__(self, "margin_mm", 0.0)

    def __repr__(self) -> str:
        return f"<Verdict: {self.sentence()}>"

    def __bool__(self) -> NoReturn:
        raise TypeError("a verdict is neither true nor false: look at its answer, and at its call")

    def negated(self) -> "Verdict":
        """The verdict on the opposite of a question that is answered by yes or no."""
        odds = self.probability
        if odds is not None:
            odds = {"true": odds["false"], "false": odds["true"]}
        margin = None if self.margin_mm is None else -self.margin_mm
        return replace(self, value=not self.value, probability=odds, margin_mm=margin)

    def mixed_with(self, other: "Verdict", share: float) -> "Verdict":
        """This verdict with its probabilities averaged with `other`'s, which has the weight `share`."""
        if self.probability is None or other.probability is None:
            return self
        answer = dict(self.answer)
        told = [key for key in answer if key.endswith("_probability")]
        own, others = ({key: one.answer[key] for key in told} for one in (self, other))
        answer |= _mixed(own, others, share)
        if "results" in answer:
            pairs = zip(answer["results"], other.answer["results"], strict=True)
            answer["results"] = [
                one | {"probability": _mixed(one["probability"], another["probability"], share)}
                for one, another in pairs
            ]
        probability = _mixed(self.probability, other.probability, share)
        return replace(self, answer=answer, probability=probability)

    def with_calls_of_results(self) -> "Verdict":
        """This verdict, each result in its answer called as the verdict itself would be."""
        if "results" not in self.answer:
            return self
        results = [dict(one) for one in self.answer["results"]]
        for one in results:
            if "probability" in one:
                one["call"] = replace(self, probability=one["probability"]).call
        return replace(self, answer={**self.answer, "results": results})

    @property
    def tightness_mm(self) -> float:
        """Distance to the nearest line that changes the answer; infinite where there is no such line."""
        return inf if self.margin_mm is None else abs(self.margin_mm)

    @property
    def likeliest(self) -> str | None:
        """The most probable answer, as JSON text."""
        return max(self.probability, key=self.probability.__getitem__) if self.probability else None

    @property
    def call(self) -> str | None:
        """How sure the likeliest answer is; None where every position is exact.

        An answer about a piece that may be none always has one, at most likely.
        """
        if not self.probability:
            return LIKELY if self.rests_on else None
        if self.is_vague:
            return TOO_CLOSE
        highest = max(self.probability.values())
        for threshold, call in CALL_THRESHOLDS:
            if highest >= threshold:
                return LIKELY if self.rests_on else call
        return TOO_CLOSE

    def to_json(self) -> dict[str, Any]:
        """The answer as the command line prints it."""
        values = dict(self.answer)
        for key in OPTIONAL_JSON_KEYS:
            if (value := getattr(self, key)) is not None:
                values[key] = value
        if self.also_in_inches:
            values |= self._lengths_in_inches()
        if self.pair:
            values["from"], values["to"] = self.pair
        if self.changes:
            values["changes"] = [change.to_json() for change in self.changes]
        if self.rests_on:
            values["rests_on"] = [dict(reason) for reason in self.rests_on]
        if self.settings:
            values["settings"] = dict(self.settings)
        return values | {"rules": list(self.rules)}

    def _lengths_in_inches(self) -> dict[str, float]:
        """The lengths of the answer in inches, by their keys; they are not rounded."""
        lengths_mm = {
            "distance_in": self.distance_mm,
            "sigma_in": self.sigma_mm,
            "margin_in": self.margin_mm,
        }
        return {key: inches_from_mm(mm) for key, mm in lengths_mm.items() if mm is not None}

    # --- words ---

    def sentence(self) -> str:
        """The verdict in one line: `range 3, 0.8 mm inside the line, certain`."""
        return ", ".join(part for part in (self._answer_sentence(), self.doubt_text) if part)

    def _answer_sentence(self) -> str:
        """The answer and its call, without what it rests on."""
        if self.call == TOO_CLOSE:
            return self._close_sentence()
        if self.likeliest not in (None, json.dumps(self.value)):
            likeliest = f"{self._named_text(self.likeliest)} ({self._percent_text()})"
            return f"{self.call} {likeliest}, though as measured {self.headline}"
        call = self.call
        if call == LIKELY and self.probability and not self.rests_on:
            call = f"likely ({self._percent_text()})"
        parts = (self.headline, self._margin_text(), call)
        return ", ".join(part for part in parts if part)

    @property
    def doubt_text(self) -> str:
        """What the answer rests on that may be no piece, in words; empty if nothing."""
        return " and ".join(self.doubt_texts)

    @property
    def doubt_texts(self) -> list[str]:
        """What the answer rests on that may be no piece, a text each."""
        return [
            f"{reason['id']} is a piece with a probability of {100 * reason['probability']:.3g} %"
            if "probability" in reason
            else f"{reason['id']} was placed by hand and not found in the photo"
            for reason in self.rests_on
        ]

    def _close_sentence(self) -> str:
        """The two likeliest answers; the first number is told to be a range, the second follows it."""
        ranked = sorted((self.probability or {}).items(), key=lambda item: -item[1])[:2]
        answers = []
        for number, (key, share) in enumerate(ranked):
            follows = number > 0 and ranked[0][0].isdecimal()
            text = self._answer_text(key) if follows else self._named_text(key)
            answers.append(f"{text} ({100 * share:.0f} %)")
        return f"{TOO_CLOSE}: {' or '.join(answers)}"

    def _margin_text(self) -> str:
        if self.margin_mm is None:
            return ""
        size = format_number(abs(self.margin_mm), self.unit)
        if not self.margin_mm:
            return "on the line"
        if not float(size):
            size = f"less than {size[:-1]}1"
        return f"{size} {self.unit} {'inside' if self.margin_mm > 0 else 'outside'} the line"

    def _percent_text(self) -> str:
        percent = 100 * max((self.probability or {}).values())
        return f"{percent:.1f} %" if percent > 99 else f"{percent:.0f} %"

    def _named_text(self, key: str) -> str:
        """A possible answer in words; a number is told to be a range where it is one."""
        is_range = key.isdecimal() and "range" in self.answer
        return f"range {self._answer_text(key)}" if is_range else self._answer_text(key)

    def _answer_text(self, key: str | None) -> str:
        """A possible answer, given by its JSON text, in words."""
        value = json.loads(key or "null")
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, list):
            return ", ".join(map(str, value)) or "none"
        return self.null_text if value is None else str(value)


def _mixed(own: Mapping[str, float], other: Mapping[str, float], share: float) -> dict[str, float]:
    """The probability of each answer, averaged with `other`'s, which has the weight `share`."""
    return {
        key: (1 - share) * own.get(key, 0.0) + share * other.get(key, 0.0)
        for key in dict.fromkeys((*own, *other))
    }
