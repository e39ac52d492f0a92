"""Tide of Iron: ranges counted in hexes."""

from collections.abc import Mapping
from dataclasses import dataclass
from json import dumps
from typing import Any

from overruler.geometry.hex_grid import hex_distance
from overruler.reading import Node
from overruler.rules.game import COMMON, Game
from overruler.rules.games.tide_of_iron.hex_position import (
    HexPosition,
    find_hex_position,
    hex_count_probabilities,
)
from overruler.scene import Piece, Scene
from overruler.verdict import Verdict

CLAUSES = {
    "tide_of_iron.check": "Before a unit attacks an enemy, its player sees whether the target is in range.",
    "tide_of_iron.count": "The distance is counted in hexes from the attacker's to the target's, which counts too.",
    "tide_of_iron.close": "A target in an adjacent hex is at close range, whatever the attacker's range value.",
    "tide_of_iron.normal": "A target no farther than the attacker's range value is at normal range.",
    "tide_of_iron.long": "A target farther than the range value, but no farther than twice it, is at long range.",
    "tide_of_iron.out": "Farther than twice its range value a unit reaches nothing and may not attack.",
    "tide_of_iron.fire_and_movement": "A unit on Fire and Movement attacks at close or normal range, never at long.",
    "tide_of_iron.lowest": "Of all figures that fire, the one with the lowest range value sets the squad's.",
    "tide_of_iron.held_back": "A squad may leave figures out of the fire; those left out no longer lower its range.",
    "tide_of_iron.against": "A figure's range value is the one that it has against the target's type.",
    "tide_of_iron.levels": "Ground lies at level 0, on a low hill (1) or on a high hill (2).",
    "tide_of_iron.higher": "Firing at lower ground adds 1 to the range value, however many levels lie between.",
    "tide_of_iron.higher_doubled": "What higher ground adds is doubled with the rest of the value for long range.",
    "tide_of_iron.effect": "How easily the target is hit depends on which of the three ranges it is at.",
    "tide_of_iron.range_alone": "Whose the target is and what lies between are not looked at. (Decided here.)",
    "tide_of_iron.defaults": "Unless told, all figures fire, none moves, all are infantry on level 0. (Decided here.)",
    "tide_of_iron.twice": "A figure that is named twice fires once. (Decided here.)",
    "tide_of_iron.center": "A piece stands in the hex that holds the middle of its base. (Decided here.)",
    "tide_of_iron.same_hex": "Pieces that share a hex have no range; none is given where that is sure. (Decided here.)",
}
RANGE_BANDS = ("close", "normal", "long", "out")
TARGET_TYPES = ("infantry", "vehicle")
GROUND_LEVELS = (0, 1, 2)


# --- squads ---


@dataclass(frozen=True, slots=True)
class Squad:
    """A piece, as far as attacks go."""

    piece: Piece
    index: int
    """The piece's place in the scene."""
    type: str
    elevation: int
    stats: Node

    @classmethod
    def of(cls, scene: Scene, name: Node) -> "Squad":
        """The squad that a question names."""
        index = _read_piece_index(scene, name)
        stats = Node(scene.pieces[index].stats, "scene", f"pieces[{index}].stats")
        of_type = stats.get("type", lambda node: node.choice(TARGET_TYPES), TARGET_TYPES[0])
        return cls(
            scene.pieces[index], index, of_type, stats.get("elevation", _read_level, 0), stats
        )

    @property
    def figures(self) -> int:
        """How many figures it has."""
        return len(self.stats["figures"].items())

    @property
    def uses_defaults(self) -> bool:
        """Whether its type or its level is left to the defaults."""
        return not (self.stats.has("type") and self.stats.has("elevation"))

    def range_value(self, question: Node, against: str) -> int:
        """The lowest range value, against a type of target, of the figures that a question lets fire."""
        ranges = [figure["range"] for figure in self.stats["figures"].items()]
        if not ranges:
            self.stats["figures"].fail("is empty; an attack needs a figure that fires")
        values = [_read_range_values(node) for node in ranges]
        firing = _firing_figures(question, len(values))
        for index in firing:
            if against not in values[index]:
                ranges[index].fail(f"has no value against {against}, and the figure fires")
        return min(values[index][against] for index in firing)


def _read_piece_index(scene: Scene, name: Node) -> int:
    scene.check_name(name.text(), f"{name.name}: {name.path}")
    if name.value in scene.terrain_parts:
        name.fail(f"{name.value!r} is terrain; an attack is between pieces")
    found = scene.piece_indices[name.value]
    if len(found) > 1:
        pieces = ", ".join(scene.pieces[index].id for index in found)
        name.fail(f"{name.value!r} is a unit of several pieces; name one of {pieces}")
    return found[0]


def _read_level(node: Node) -> int:
    level = node.integer()
    return (
        level
        if level in GROUND_LEVELS
        else node.fail(f"there are the levels 0, 1 and 2, found {level}")
    )


def _read_range_values(node: Node) -> dict[str, int]:
    """A figure's range value against each type of target: one number for all, or one for each."""
    if not isinstance(node.value, dict):
        return dict.fromkeys(TARGET_TYPES, _read_whole_number(node))
    return {key: _read_whole_number(node[key]) for key in TARGET_TYPES if node.has(key)}


def _read_whole_number(node: Node) -> int:
    value = node.integer()
    return value if value >= 0 else node.fail(f"must be 0 or more, is {value}")


def _firing_figures(question: Node, count: int) -> list[int]:
    """The figures that fire, by their indexes; all of them unless the question says which."""
    if not question.has("figures"):
        return list(range(count))
    named = question["figures"].items()
    if not named:
        question["figures"].fail("is empty; at least one figure must fire")
    for item in named:
        if not 0 <= item.integer() < count:
            item.fail(f"no such figure: the squad's are 0 to {count - 1}, found {item.integer()}")
    return [item.integer() for item in named]


# --- attacks ---


@dataclass(frozen=True, slots=True)
class FireRange:
    """What a squad's fire reaches."""

    range_value: int
    """The squad's range value, higher ground counted in."""
    moving: bool
    """Whether it takes a Fire and Movement action."""

    def band(self, hexes: int) -> str | None:
        """The range at a distance; None within one hex."""
        if hexes <= 1:
            return RANGE_BANDS[0] if hexes else None
        return (
            RANGE_BANDS[1]
            if hexes <= self.range_value
            else RANGE_BANDS[2]
            if hexes <= 2 * self.range_value
            else RANGE_BANDS[3]
        )

    def allows_attack(self, band: str | None) -> bool:
        """Whether a range allows the attack."""
        return band in RANGE_BANDS[:2] or (band == "long" and not self.moving)

    def headline(self, hexes: int) -> str:
        """The range in a few words."""
        band, count = self.band(hexes), f"{hexes} hex" if hexes == 1 else f"{hexes} hexes"
        if band in (None, "out"):
            return f"out of range, {count}" if band else "in one hex"
        barred = ", not on Fire and Movement" if not self.allows_attack(band) else ""
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
    fire: FireRange
    a: HexPosition
    b: HexPosition

    @classmethod
    def of(cls, scene: Scene, question: Node) -> "Attack":
        """The attack that a question asks about."""
        attacker, target = (
            Squad.of(scene, question["attacker"]),
            Squad.of(scene, question["target"]),
        )
        if attacker.index == target.index:
            question["target"].fail(f"{target.piece.id!r} is the attacker itself")
        value = attacker.range_value(question, target.type) + (
            attacker.elevation > target.elevation
        )
        fire = FireRange(value, question.get("fire_and_movement", Node.boolean, False))
        return cls(
            attacker,
            target,
            fire,
            find_hex_position(scene, attacker.index),
            find_hex_position(scene, target.index),
        )

    @property
    def hexes(self) -> int:
        """How far the target is, as measured."""
        return hex_distance(self.a.hex, self.b.hex)

    @property
    def band(self) -> str | None:
        return self.fire.band(self.hexes)

    @property
    def margin_mm(self) -> float | None:
        """How far the nearest border lies across which one of the two would be at another range of the other.

        Negative where the attack is not allowed; None where both were placed by their hexes, or no border changes it.
        """
        borders = [
            border_mm
            for place, other in ((self.a, self.b), (self.b, self.a))
            for hexagon, border_mm in place.neighbour_distances_mm.items()
            if not place.is_given and self.fire.band(hex_distance(hexagon, other.hex)) != self.band
        ]
        margin = min(borders, default=None)
        return margin if margin is None or self.fire.allows_attack(self.band) else -margin


def attack_range(scene: Scene, question: Node) -> Verdict:
    """The range of an attack in hexes, and whether it may be made."""
    attack = Attack.of(scene, question)
    fire, hexes, band = attack.fire, attack.hexes, attack.band
    chances = hex_count_probabilities(scene, attack.a, attack.b)
    if set(chances) == {0}:
        question["target"].fail(
            f"{attack.target.piece.id!r} is in the attacker's own hex, where there is no range"
        )
    answer: dict[str, Any] = {
        "hexes": hexes,
        "range_value": fire.range_value,
        "band": band,
        "eligible": fire.allows_attack(band),
    }
    if scene.covariance is not None:
        answer["eligible_probability"] = sum(
            share for count, share in chances.items() if fire.allows_attack(fire.band(count))
        )
    return Verdict(
        answer={**answer, "reason": fire.reason(hexes)},
        headline=fire.headline(hexes),
        rules=tuple(
            f"tide_of_iron.{name}"
            for name, holds in _clauses_that_hold(attack, question).items()
            if holds
        ),
        margin_mm=attack.margin_mm,
        value=band,
        null_text="in one hex",
        probability=None if scene.covariance is None else _band_probabilities(fire, chances),
        question=question.value,
    )


def _band_probabilities(fire: FireRange, chances: Mapping[int, float]) -> dict[str, float]:
    """The probability of each range; null, within one hex, only where that can be."""
    found = {dumps(band): 0.0 for band in RANGE_BANDS}
    for hexes, share in chances.items():
        key = dumps(fire.band(hexes))
        found[key] = found.get(key, 0.0) + share
    return found


def _clauses_that_hold(attack: Attack, question: Node) -> dict[str, bool]:
    """Whether an attack rests on each of the clauses."""
    attacker, target, band = attack.attacker, attack.target, attack.band
    named = (
        [item.integer() for item in question["figures"].items()]
        if question.has("figures")
        else None
    )
    higher = attacker.elevation > target.elevation
    return {
        "check": True,
        "count": True,
        band or "same_hex": True,
        "fire_and_movement": attack.fire.moving,
        "lowest": True,
        "held_back": named is not None and len({*named}) < attacker.figures,
        "against": True,
        "levels": attacker.elevation + target.elevation > 0,
        "higher": higher,
        "higher_doubled": higher and band in ("long", "out"),
        "effect": attack.fire.allows_attack(band),
        "range_alone": True,
        "defaults": named is None
        or not question.has("fire_and_movement")
        or attacker.uses_defaults
        or target.uses_defaults,
        "twice": named is not None and len({*named}) < len(named),
        "center": not (attack.a.is_given and attack.b.is_given),
    }


GAME = Game(
    name="tide_of_iron",
    title="Tide of Iron",
    questions={**COMMON, "attack_range": attack_range},
    clauses=CLAUSES,
    examples={
        "attack_range": {
            "attacker": "p01",
            "target": "p02",
            "fire_and_movement": False,
            "figures": [0, 1],
        }
    },
)
