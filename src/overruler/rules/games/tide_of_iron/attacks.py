"""Attacks of Tide of Iron: their range in hexes, and whether they may be made."""

from collections.abc import Mapping
from dataclasses import dataclass
from json import dumps
from typing import Any

from overruler.geometry.hex_grid import hex_distance
from overruler.reading import Node
from overruler.rules.clauses import clauses_that_hold
from overruler.rules.fields import NAME, YES_NO, Field, list_of, whole_between
from overruler.rules.games.tide_of_iron.squads import Squad
from overruler.rules.hexes.hex_position import (
    HexPosition,
    find_hex_position,
    hex_count_probabilities,
)
from overruler.scene import Scene
from overruler.verdict import Verdict

RANGE_BANDS = ("close", "normal", "long", "out")

ATTACKER = Field("attacker", NAME, "p01", tap="A")
TARGET = Field("target", NAME, "p02", tap="B")
FIRE_AND_MOVEMENT = Field("fire_and_movement", YES_NO, False, required=False, default=False)
FIGURES = Field("figures", list_of(whole_between(0), 1), [0, 1], required=False)
"""The indices of the figures that fire; all of them where a question leaves it out."""


@dataclass(frozen=True, slots=True)
class FireRange:
    """The reach of a squad's fire."""

    range_value: int
    """The squad's range value, with what higher ground adds."""
    moving: bool
    """Whether it takes a Fire and Movement action."""

    def band(self, hexes: int) -> str | None:
        """The range at a distance; None within one hex."""
        if hexes == 0:
            return None
        if hexes == 1:
            return "close"
        if hexes <= self.range_value:
            return "normal"
        return "long" if hexes <= 2 * self.range_value else "out"

    def allows_attack(self, band: str | None) -> bool:
        """Whether a range allows the attack."""
        return band in ("close", "normal") or (band == "long" and not self.moving)

    def headline(self, hexes: int) -> str:
        """The range in a few words."""
        band, count = self.band(hexes), f"{hexes} hex" if hexes == 1 else f"{hexes} hexes"
        if band is None:
            return "in one hex"
        if band == "out":
            return f"out of range, {count}"
        barred = "" if self.allows_attack(band) else ", not on Fire and Movement"
        return f"{band} range, {count}{barred}"

    def reason(self, hexes: int) -> str:
        """Why the attack is allowed or not."""
        band = self.band(hexes)
        if band is None:
            return "as measured the two share a hex, and there is no range"
        if band == "close":
            return "the target is adjacent"
        if band == "out":
            return f"{hexes} hexes are more than twice the range value, {self.range_value}"
        if band == "normal":
            return f"{hexes} hexes are within the range value, {self.range_value}"
        barred = ", and Fire and Movement allows no long range" if self.moving else ""
        return f"{hexes} hexes are within twice the range value, {self.range_value}{barred}"


@dataclass(frozen=True, slots=True)
class Attack:
    """One squad's fire at another."""

    attacker: Squad
    target: Squad
    firing: list[int] | None
    """The indices of the figures that fire, as the question names them; None for all."""
    fire: FireRange
    a: HexPosition
    """The attacker's hex."""
    b: HexPosition
    """The target's hex."""

    @classmethod
    def of(cls, scene: Scene, question: Node) -> "Attack":
        """The attack that a question asks about."""
        attacker = Squad.of(scene, ATTACKER.read(question))
        target = Squad.of(scene, TARGET.read(question))
        if attacker.index == target.index:
            question["target"].fail(f"{target.piece.id!r} is the attacker itself")
        firing = _read_figures(question, attacker)
        range_value = attacker.lowest_range_value(firing, target.type)
        if attacker.elevation > target.elevation:
            range_value += 1
        fire = FireRange(range_value, FIRE_AND_MOVEMENT.read(question))
        a = find_hex_position(scene, attacker.index)
        b = find_hex_position(scene, target.index)
        return cls(attacker, target, firing, fire, a, b)

    @property
    def hexes(self) -> int:
        """The distance in hexes, as measured."""
        return hex_distance(self.a.hex, self.b.hex)

    @property
    def band(self) -> str | None:
        """The range, as measured."""
        return self.fire.band(self.hexes)

    @property
    def margin_mm(self) -> float | None:
        """The distance to the nearest border of a hex beyond which the range would be another.

        Negative where the attack is not allowed. None where both were placed by their hexes, or no
        border changes the range.
        """
        borders = [
            border_mm
            for place, other in ((self.a, self.b), (self.b, self.a))
            for hexagon, border_mm in place.neighbour_distances_mm.items()
            if not place.is_given and self.fire.band(hex_distance(hexagon, other.hex)) != self.band
        ]
        margin = min(borders, default=None)
        if margin is None or self.fire.allows_attack(self.band):
            return margin
        return -margin


def _read_figures(question: Node, attacker: Squad) -> list[int] | None:
    """The figures that a question lets fire; None for all."""
    if not question.has("figures"):
        return None
    last = attacker.figure_count - 1
    nodes = question["figures"].items()
    if not nodes:
        question["figures"].fail("is empty; at least one figure must fire")
    for node in nodes:
        if not 0 <= node.integer() <= last:
            node.fail(f"no such figure: the squad's are 0 to {last}, found {node.integer()}")
    return [node.integer() for node in nodes]


def attack_range(scene: Scene, question: Node) -> Verdict:
    """The range of an attack in hexes, and whether it may be made."""
    attack = Attack.of(scene, question)
    fire, hexes, band = attack.fire, attack.hexes, attack.band
    counts = hex_count_probabilities(scene, attack.a, attack.b)
    if set(counts) == {0}:
        question["target"].fail(
            f"{attack.target.piece.id!r} is in the attacker's own hex, where there is no range"
        )
    answer: dict[str, Any] = {
        "hexes": hexes,
        "range_value": fire.range_value,
        "band": band,
        "eligible": fire.allows_attack(band),
    }
    probability = None
    if scene.covariance is not None:
        answer["eligible_probability"] = sum(
            share for count, share in counts.items() if fire.allows_attack(fire.band(count))
        )
        probability = _band_probabilities(fire, counts)
    return Verdict(
        answer={**answer, "reason": fire.reason(hexes)},
        headline=fire.headline(hexes),
        rules=_clauses_of(attack, question),
        margin_mm=attack.margin_mm,
        value=band,
        null_text="in one hex",
        probability=probability,
        question=question.value,
    )


def _band_probabilities(fire: FireRange, counts: Mapping[int, float]) -> dict[str, float]:
    """The probability of each range by its JSON text; null, within one hex, only where possible."""
    bands = {dumps(band): 0.0 for band in RANGE_BANDS}
    for hexes, probability in counts.items():
        key = dumps(fire.band(hexes))
        bands[key] = bands.get(key, 0.0) + probability
    return bands


def _clauses_of(attack: Attack, question: Node) -> tuple[str, ...]:
    """The clauses that an attack rests on."""
    attacker, target, firing = attack.attacker, attack.target, attack.firing
    higher = attacker.elevation > target.elevation
    defaults = attacker.uses_defaults or target.uses_defaults
    figures = set() if firing is None else {*firing}
    holds = {
        "check": True,
        "count": True,
        attack.band or "same_hex": True,
        "fire_and_movement": attack.fire.moving,
        "lowest": True,
        "held_back": firing is not None and len(figures) < attacker.figure_count,
        "against": True,
        "levels": attacker.elevation + target.elevation > 0,
        "higher": higher,
        "higher_doubled": higher and attack.band in ("long", "out"),
        "effect": attack.fire.allows_attack(attack.band),
        "range_alone": True,
        "defaults": firing is None or not question.has("fire_and_movement") or defaults,
        "twice": firing is not None and len(figures) < len(firing),
        "center": not (attack.a.is_given and attack.b.is_given),
    }
    return clauses_that_hold(holds, "tide_of_iron")
