"""Legion: ranges on a ruler of five segments."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from overruler.reading import Node
from overruler.rules.bands import Reading, bands_in_words, range_in_words, read_bands
from overruler.rules.game import Game, Setting, answer_distance
from overruler.rules.measure import Body, Measure, between, bodies_named, measure_sides
from overruler.scene import Ruler, Scene
from overruler.units import CONTACT_TOLERANCE_MM
from overruler.verdict import Verdict

CLAUSES = {
    "legion.melee": "A miniature in base contact with an enemy's is at melee range of it, and it of the first.",
    "legion.segments": "The range is the number of ruler segments, whole and part, between the two bases.",
    "legion.line": "A base that touches the line between two segments without crossing it is at the lower range.",
    "legion.one_edge": "One edge of the ruler measures; its width and thickness count for nothing.",
    "legion.level": "The ruler is held level with the table, whatever stands higher.",
    "legion.weapon": "A weapon serves from its minimum to its maximum range, both included.",
    "legion.weapon_one_number": "A weapon with one range has it as its minimum and its maximum.",
    "legion.closest_miniatures": "Between units the closest miniature of each counts, attacks aside.",
    "legion.attack": "An attack is measured from the attacking unit's leader to the defender's closest miniature.",
    "legion.any_time": "Players may measure with the ruler whenever they like.",
    "legion.mark": "Without a fifth segment, range 5 is four segments on from a mark made at range 1.",
    "legion.at": "At a range is what has its closest part inside that segment.",
    "legion.within": "Within a range is what has the whole of its base inside that segment.",
    "legion.within_several": "A unit can be within a range of several segments.",
    "legion.beyond": "Beyond a range is what has no part from the ruler's start to the end of that segment.",
    "legion.contact": "Contact is range 1. (Decided here: the rules count no segment there.)",
    "legion.past": "Past the ruler's last segment there is no range. (Decided here.)",
    "legion.from_to": "Two numbers run from the one to the other, both included. (Decided here.)",
    "legion.within_low": "The line that a segment begins with lies outside it, but for the first. (Decided here.)",
    "legion.within_nearest": "Within of a unit: each part counts from the miniature nearest to it. (Decided here.)",
    "legion.terrain": "Terrain can be measured from and to; it is at melee range of nothing. (Decided here.)",
    "legion.unit_of_one": "A miniature without a unit is a unit of its own, and its leader. (Decided here.)",
    "legion.leader_melee": "In an attack the leader's own contact makes it melee range. (Decided here.)",
    "legion.ranged_in_contact": "A ranged weapon of range 1 serves in contact. (Decided here; tables may differ.)",
    "legion.mark_short": "Where the bases are less than a segment apart there is no mark to make. (Decided here.)",
}
MARKED_SEGMENTS = 4
"""Segments of the ruler that range 5 is measured with from a mark."""


def lay_ruler(scene: Scene, question: Node) -> Reading:
    """The ruler laid from what a question names to what it asks about."""
    return Reading(scene, question, between(scene, question), GAME.ruler_of(scene))


def range_at(band: int, segments: int) -> int | None:
    """The range in a band of the ruler: contact is range 1, past the ruler there is none."""
    return max(band, 1) if band <= segments else None


def ruler_clauses(ruler: Reading) -> tuple[str, ...]:
    """The clauses that this use of the ruler rests on."""
    a, b = ruler.measure.closest.a, ruler.measure.closest.b
    clauses = {
        "legion.segments": True,
        "legion.one_edge": True,
        "legion.line": ruler.on_line,
        "legion.contact": ruler.band == 0,
        "legion.past": ruler.is_past_end,
        "legion.level": a.z_mm != b.z_mm,
        "legion.terrain": None in (a.index, b.index),
    }
    return tuple(clause for clause, holds in clauses.items() if holds)


def range_verdict(ruler: Reading, *rules: str) -> Verdict:
    """The range along a ruler, and whether it is melee range."""
    segments, melee = ruler.ruler.segments, ruler.measure.is_melee
    verdict = ruler.decide(lambda band: range_at(band, segments))
    answer = {"range": verdict.value, "melee": melee}
    share = (
        ruler.band_probabilities[0]
        if ruler.band_probabilities and ruler.measure.closest.are_enemies
        else None
    )
    if share is not None:
        answer["melee_probability"] = share
    contact = ("legion.melee", "any.enemies") if ruler.band == 0 else ()
    headline = range_in_words(verdict.value) + melee_in_words(melee, share)
    return replace(
        verdict, answer=answer, headline=headline, rules=(*rules, *ruler_clauses(ruler), *contact)
    )


def melee_in_words(melee: bool, share: float | None) -> str:
    doubtful = share is not None and 0.001 < share < 0.999
    return f", melee {100 * (share or 0):.0f} %" if doubtful else ", melee" if melee else ""


# --- between anything ---


def answer_any_distance(scene: Scene, question: Node) -> Verdict:
    """How far apart two miniatures, units or terrains are."""
    verdict = answer_distance(scene, question)
    return replace(verdict, rules=(*verdict.rules, "legion.any_time"))


def answer_range(scene: Scene, question: Node) -> Verdict:
    """The range between two miniatures, units or terrains."""
    ruler = lay_ruler(scene, question)
    return range_verdict(ruler, *unit_clauses(ruler.measure))


def unit_clauses(measure: Measure) -> tuple[str, ...]:
    return ("legion.closest_miniatures",) if len(measure.pairs) > 1 else ()


def answer_at(scene: Scene, question: Node) -> Verdict:
    """Whether the closest part lies in one of some segments."""
    ruler = lay_ruler(scene, question)
    first, last = read_bands(question["range"], 1, ruler.ruler.segments)
    verdict = ruler.decide(lambda band: first <= max(band, 1) <= last)
    return _yes_no_verdict(
        verdict, "at", first, last, "legion.at", *ruler_clauses(ruler), *unit_clauses(ruler.measure)
    )


def answer_within(scene: Scene, question: Node) -> Verdict:
    """Whether every part of every base lies in some segments."""
    ruler = lay_ruler(scene, question)
    first, last = read_bands(question["range"], 1, ruler.ruler.segments)
    verdict = ruler.decide_within(first, last)
    clauses = {
        "legion.within": True,
        "legion.within_several": last > first,
        "legion.within_low": first == 1
        or abs(ruler.measure.distance_mm - ruler.lines_mm[first - 1]) <= CONTACT_TOLERANCE_MM,
        "legion.within_nearest": len(ruler.measure.from_bodies) > 1,
    }
    rules = [clause for clause, holds in clauses.items() if holds]
    return _yes_no_verdict(verdict, "within", first, last, *rules, *ruler_clauses(ruler))


def answer_beyond(scene: Scene, question: Node) -> Verdict:
    """Whether no part lies up to the end of the last of some segments."""
    ruler = lay_ruler(scene, question)
    first, last = read_bands(question["range"], 1, ruler.ruler.segments)
    verdict = ruler.decide(lambda band: band > last)
    return _yes_no_verdict(
        verdict,
        "beyond",
        first,
        last,
        "legion.beyond",
        *ruler_clauses(ruler),
        *unit_clauses(ruler.measure),
    )


def _yes_no_verdict(verdict: Verdict, word: str, first: int, last: int, *rules: str) -> Verdict:
    from_to = ("legion.from_to",) if last > first else ()
    headline = bands_in_words(word, first, last, verdict.value)
    return replace(
        verdict, answer={"answer": verdict.value}, headline=headline, rules=(*rules, *from_to)
    )


def mark_range_one(scene: Scene, question: Node) -> Verdict:
    """The range up to 5 with a ruler of four segments: a mark at range 1, and on from there."""
    measure, segment = between(scene, question), GAME.ruler_of(scene).segment_mm
    ruler = Reading(scene, question, measure, Ruler(segment, 1 + MARKED_SEGMENTS))
    short = measure.distance_mm < segment - CONTACT_TOLERANCE_MM
    rules = ("legion.mark", *(("legion.mark_short",) if short else ()), *unit_clauses(measure))
    verdict = range_verdict(ruler, *rules)
    return replace(
        verdict,
        answer={
            "mark_mm": None if short else _mark_point(measure, segment),
            "range": verdict.value,
        },
    )


def _mark_point(measure: Measure, segment_mm: float) -> list[float]:
    (ax, ay), (bx, by) = measure.closest.gap.from_point, measure.closest.gap.to_point
    share = segment_mm / measure.distance_mm
    return [ax + share * (bx - ax), ay + share * (by - ay)]


# --- attacks ---


def lay_attack_ruler(scene: Scene, question: Node) -> Reading:
    """The ruler laid from the attacking unit's leader to the defending unit."""
    attackers, defenders = (
        _read_unit(scene, question["attacker"]),
        _read_unit(scene, question["defender"]),
    )
    measure = measure_sides(
        [_unit_leader(attackers, question["attacker"])], defenders, question["defender"]
    )
    return Reading(scene, question, measure, GAME.ruler_of(scene))


def attack_clauses(ruler: Reading) -> tuple[str, ...]:
    """The clauses on who is measured in an attack."""
    sides = (ruler.question["attacker"].value, ruler.question["defender"].value)
    alone = any(piece.id in sides and piece.unit is None for piece in ruler.scene.pieces)
    return ("legion.attack", "legion.leader_melee", *(("legion.unit_of_one",) if alone else ()))


def _read_unit(scene: Scene, node: Node) -> tuple[Body, ...]:
    bodies = bodies_named(scene, node)
    if bodies[0].index is None:
        node.fail(f"{node.value!r} is terrain; an attack is between units")
    unit = scene.pieces[bodies[0].index].unit
    if unit not in (None, node.value):
        node.fail(f"{node.value!r} is one piece of unit {unit!r}; an attack is between units")
    return bodies


def _unit_leader(bodies: Sequence[Body], node: Node) -> Body:
    leaders = [body for body in bodies if body.leader] if len(bodies) > 1 else list(bodies)
    if len(leaders) != 1:
        found = ", ".join(body.id for body in leaders) or "none"
        node.fail(
            f"unit {node.value!r} must have one leader, whom the attack is measured from; it has {found}"
        )
    return leaders[0]


def attack_range(scene: Scene, question: Node) -> Verdict:
    """The range of an attack."""
    ruler = lay_attack_ruler(scene, question)
    verdict = range_verdict(ruler, *attack_clauses(ruler))
    leader, target = ruler.measure.closest.a.id, ruler.measure.closest.b.id
    return replace(verdict, answer={**verdict.answer, "from": leader, "to": target})


# --- weapons ---


@dataclass(frozen=True, slots=True)
class Weapon:
    """What a weapon asks of its target."""

    min_range: int
    max_range: int
    """Its minimum and maximum range; 0 and 0 for a melee weapon, which asks for contact."""
    enemies: bool
    """Whether the leader and the closest miniature are."""
    in_contact: bool
    """Whether this table lets a ranged weapon serve against an enemy in contact."""

    @property
    def melee(self) -> bool:
        return self.max_range == 0

    def reaches(self, band: int) -> bool:
        """Whether it can be used on a target whose closest part lies in a band of the ruler."""
        if self.melee:
            return band == 0 and self.enemies
        return self.min_range <= max(band, 1) <= self.max_range and (
            band > 0 or self.in_contact or not self.enemies
        )

    def reason(self, band: int, segments: int) -> str:
        """Why it can be used or not."""
        value = max(band, 1)
        if self.melee:
            return (
                "the leader is "
                + ("" if self.reaches(band) else "not ")
                + "in base contact with an enemy"
            )
        if band > segments:
            return "past the ruler"
        if value < self.min_range:
            return f"range {value} is short of the weapon's minimum, {self.min_range}"
        if value > self.max_range:
            return f"range {value} is past the weapon's maximum, {self.max_range}"
        if not self.reaches(band):
            return "in base contact with an enemy, where this table lets no ranged weapon serve"
        return f"range {value} is one of the weapon's, {self.min_range} to {self.max_range}"

    def clauses(self, band: int) -> tuple[str, ...]:
        if self.melee:
            return "legion.melee", "any.enemies"
        one = ("legion.weapon_one_number",) if self.min_range == self.max_range else ()
        return (
            "legion.weapon",
            *one,
            *(("legion.ranged_in_contact",) if self.rests_on_house_rule(band) else ()),
        )

    def rests_on_house_rule(self, band: int) -> bool:
        """Whether it rests on what this table chose for ranged weapons in contact."""
        return band == 0 and self.enemies and self.min_range == 1


def answer_weapon(scene: Scene, question: Node) -> Verdict:
    """Whether a weapon reaches in an attack."""
    ruler = lay_attack_ruler(scene, question)
    band, segments = ruler.band, ruler.ruler.segments
    held = _read_weapon(ruler, question["weapon"]["range"])
    verdict = ruler.decide(held.reaches)
    return replace(
        verdict,
        answer={
            "usable": verdict.value,
            "range": range_at(band, segments),
            "reason": held.reason(band, segments),
        },
        headline="the weapon reaches" if verdict.value else "the weapon does not reach",
        rules=(*attack_clauses(ruler), *held.clauses(band), *ruler_clauses(ruler)),
        settings={"ranged_in_contact": held.in_contact} if held.rests_on_house_rule(band) else {},
    )


def _read_weapon(ruler: Reading, node: Node) -> Weapon:
    first, last = (0, 0) if node.value == "melee" else read_bands(node, 1, ruler.ruler.segments)
    return Weapon(
        first,
        last,
        ruler.measure.closest.are_enemies,
        GAME.chosen(ruler.scene, "ranged_in_contact"),
    )


GAME = Game(
    name="legion",
    title="Legion",
    ruler=Ruler(152.4, 5),
    questions={
        "distance": answer_any_distance,
        "range": answer_range,
        "at": answer_at,
        "within": answer_within,
        "beyond": answer_beyond,
        "attack_range": attack_range,
        "weapon": answer_weapon,
        "mark_range_one": mark_range_one,
    },
    clauses=CLAUSES,
    examples={
        "attack_range": {"attacker": "troopers", "defender": "guards"},
        "weapon": {"attacker": "troopers", "defender": "guards", "weapon": {"range": [2, 4]}},
    },
    settings={
        "ranged_in_contact": Setting(
            True, "A ranged weapon of range 1 serves against an enemy in contact."
        )
    },
)
