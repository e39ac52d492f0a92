"""Attacks of Legion: the range from the attacking unit's leader, and whether a weapon reaches."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from overruler.reading import Node
from overruler.rules.bands import read_bands
from overruler.rules.bodies import Body, bodies_named, piece_body
from overruler.rules.game import Setting, ruler_of
from overruler.rules.games.legion.ranges import (
    LegionRuler,
    range_at,
    range_verdict,
    ruler_clauses,
)
from overruler.rules.measure import measure_sides
from overruler.scene import Scene
from overruler.verdict import Verdict

RANGED_IN_CONTACT = Setting(
    "ranged_in_contact", True, "A ranged weapon of range 1 serves against an enemy in contact."
)


def attack_range(scene: Scene, question: Node) -> Verdict:
    """The range of an attack."""
    ruler = _lay_attack_ruler(scene, question)
    verdict = range_verdict(ruler, *_attack_clauses(ruler))
    leader, target = ruler.measure.closest.a.id, ruler.measure.closest.b.id
    return replace(verdict, answer={**verdict.answer, "from": leader, "to": target})


def _lay_attack_ruler(scene: Scene, question: Node) -> LegionRuler:
    """The ruler laid from the attacking unit's leader to the defending unit."""
    _read_unit(scene, question["attacker"])
    indices = scene.piece_indices[question["attacker"].text()]
    attackers = [piece_body(scene, index) for index in indices]
    defenders = _read_unit(scene, question["defender"])
    leader = _unit_leader(attackers, question["attacker"])
    measure = measure_sides([leader], defenders, question["defender"])
    return LegionRuler(scene, question, measure, ruler_of(scene))


def _attack_clauses(ruler: LegionRuler) -> tuple[str, ...]:
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
            f"unit {node.value!r} must have one leader, whom the attack is measured from; "
            f"it has {found}"
        )
    return leaders[0]


# --- weapons ---


@dataclass(frozen=True, slots=True)
class Weapon:
    """A weapon against one target."""

    min_range: int
    max_range: int
    """Its minimum and maximum range; 0 and 0 for a melee weapon, which needs contact."""
    in_contact: bool
    """Whether this table lets a ranged weapon serve against an enemy in contact."""

    @classmethod
    def of(cls, ruler: LegionRuler) -> "Weapon":
        """The weapon that a question asks about."""
        node = ruler.question["weapon"]["range"]
        first, last = 0, 0
        if node.value != "melee":
            first, last = read_bands(node, 1, ruler.ruler.segments)
        return cls(first, last, RANGED_IN_CONTACT.chosen(ruler.scene))

    @property
    def melee(self) -> bool:
        return self.max_range == 0

    def reaches(self, band: int) -> bool:
        """Whether it can be used on a target in a band of the ruler; 0 is melee."""
        if self.melee:
            return band == 0
        in_range = self.min_range <= max(band, 1) <= self.max_range
        return in_range and (band > 0 or self.in_contact)

    def reason(self, band: int, segments: int) -> str:
        """Why it can be used or not."""
        value = max(band, 1)
        if self.melee:
            is_in_contact = "is" if self.reaches(band) else "is not"
            return f"the leader {is_in_contact} in base contact with an enemy"
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
        """The clauses that its reach rests on."""
        if self.melee:
            return "legion.melee", "any.enemies"
        one = ("legion.weapon_one_number",) if self.min_range == self.max_range else ()
        contact = ("legion.ranged_in_contact",) if self.rests_on_house_rule(band) else ()
        return ("legion.weapon", *one, *contact)

    def rests_on_house_rule(self, band: int) -> bool:
        """Whether it rests on the table's choice for ranged weapons in contact."""
        return band == 0 and self.min_range == 1


def answer_weapon(scene: Scene, question: Node) -> Verdict:
    """Whether a weapon reaches in an attack."""
    ruler = _lay_attack_ruler(scene, question)
    band, segments = ruler.band, ruler.ruler.segments
    weapon = Weapon.of(ruler)
    verdict = ruler.decide(weapon.reaches)
    settings = {}
    if weapon.rests_on_house_rule(band):
        settings[RANGED_IN_CONTACT.name] = weapon.in_contact
    answer = {
        "usable": verdict.value,
        "range": range_at(band, segments),
        "reason": weapon.reason(band, segments),
    }
    return replace(
        verdict,
        answer=answer,
        headline="the weapon reaches" if verdict.value else "the weapon does not reach",
        rules=(*_attack_clauses(ruler), *weapon.clauses(band), *ruler_clauses(ruler)),
        settings=settings,
    )
