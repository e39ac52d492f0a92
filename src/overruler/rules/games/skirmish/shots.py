"""A shot in Skirmish: what counts for it, and what comes of the dice."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from overruler.reading import Node
from overruler.rules.changes import smallest_changes
from overruler.rules.clauses import clauses_that_hold
from overruler.rules.game import answer_distance
from overruler.rules.games.skirmish.shooters import Fighter, Weapon, read_fighters, read_piece_index
from overruler.rules.games.skirmish.target_sight import TargetSight, is_below
from overruler.rules.games.skirmish.targeting import Targets
from overruler.rules.measure import Measure, band_of, between
from overruler.rules.sampled.sightlines import joint_displacements
from overruler.rules.sampling import yes_no_probabilities
from overruler.rules.uncertainty import distance_uncertainty
from overruler.scene import Scene
from overruler.units import CONTACT_TOLERANCE_MM
from overruler.verdict import Verdict

COVER_PIERCING = -3
"""Added to the piercing against a target in cover."""
MOVED_PIERCING = -3
"""Added to the piercing of a shooter that moved this turn."""


@dataclass(frozen=True, eq=False)
class RangedShot:
    """A shooter with its weapon and a target, both named by a question."""

    scene: Scene
    question: Node
    sight: TargetSight
    """What the shooter sees of the target."""
    weapon: Weapon

    @classmethod
    def of(cls, scene: Scene, question: Node) -> "RangedShot":
        """The shot that a question asks about."""
        i = read_piece_index(scene, question["unit"])
        j = read_piece_index(scene, question["target"])
        if i == j:
            question["target"].fail(f"{question['target'].value!r} is the shooter itself")
        units = read_fighters(scene)
        weapon = units[i].weapon
        if weapon is None:
            question["unit"].fail(f"{units[i].id!r} has no ranged weapon")
        return cls(scene, question, TargetSight(scene, units[i], units[j]), weapon)

    @property
    def shooter(self) -> Fighter:
        return self.sight.shooter

    @property
    def target(self) -> Fighter:
        return self.sight.target

    @cached_property
    def measure(self) -> Measure:
        """The measure between the two bases."""
        return between(self.scene, self.question, "unit", "target")

    @property
    def lines_mm(self) -> tuple[float, float]:
        """Half the weapon's range, and the range."""
        return self.weapon.range_mm / 2, self.weapon.range_mm

    @property
    def in_range(self) -> bool:
        """Whether the weapon reaches the target."""
        return self.sight.distance_mm <= self.weapon.range_mm + CONTACT_TOLERANCE_MM

    @property
    def half_range(self) -> bool:
        """Whether the target is within half the weapon's range."""
        return self.sight.distance_mm <= self.weapon.range_mm / 2 + CONTACT_TOLERANCE_MM

    @property
    def advantage(self) -> bool:
        """Whether the shooter rolls with advantage."""
        return self.half_range and is_below(self.shooter, self.target)

    @property
    def piercing(self) -> int:
        """The weapon's piercing, with all that changes it."""
        piercing = self.weapon.piercing
        if self.sight.in_cover:
            piercing += COVER_PIERCING
        if "moved" in self.shooter.flags:
            piercing += MOVED_PIERCING
        return piercing

    @property
    def defence(self) -> int:
        """The number that the target must roll."""
        return self.target.defence + self.piercing

    @cached_property
    def range_probabilities(self) -> tuple[float, float]:
        """The probability of half range, and of the range; in a scene with covariance."""
        uncertainty = distance_uncertainty(self.scene, self.measure, self.lines_mm)
        assert uncertainty is not None
        half, rest, _ = uncertainty.band_probabilities
        return half, half + rest

    def verdict(self) -> Verdict:
        """A verdict with the distance, and how far inside the weapon's range it is."""
        ends = Node({"from": self.shooter.id, "to": self.target.id}, self.question.name)
        lines = self.lines_mm
        band = band_of(self.measure.distance_mm, lines)
        changes = smallest_changes(self.measure, lines, band, lambda band: band < len(lines))
        return replace(
            answer_distance(self.scene, ends),
            margin_mm=self.weapon.range_mm - self.sight.distance_mm,
            lines_mm=lines,
            changes=changes,
            question=self.question.value,
        )

    def rules(self) -> tuple[str, ...]:
        """The clauses on range and on the number to roll in defence."""
        holds = {
            "declared": True,
            "range": True,
            "piercing": True,
            "cover": True,
            "cover_piercing": self.sight.in_cover,
            "moved": "moved" in self.shooter.flags,
        }
        return (
            "any.edge_to_edge",
            *clauses_that_hold(holds, "skirmish"),
            *self.sight.cover_rules(),
        )


def answer_shot(scene: Scene, question: Node) -> Verdict:
    """All that counts for a shot at a target."""
    shot = RangedShot.of(scene, question)
    targets = Targets.of(scene, shot.shooter.index)
    answer = {
        "valid_target": shot.target.id in targets.valid,
        "in_range": shot.in_range,
        "half_range": shot.half_range,
        "advantage": shot.advantage,
        "cover": shot.sight.in_cover,
        "piercing": shot.piercing,
        "defence": shot.defence,
    }
    elevated = ("skirmish.advantage",) if is_below(shot.shooter, shot.target) else ()
    probabilities, probability = {}, None
    if scene.covariance:
        probabilities = _shot_probabilities(shot, targets)
        probability = yes_no_probabilities(shot.range_probabilities[1])
    return replace(
        shot.verdict(),
        answer=answer | probabilities,
        headline=_shot_headline(answer),
        rules=tuple(dict.fromkeys((*shot.rules(), *elevated, *targets.rules()))),
        value=shot.in_range,
        probability=probability,
        unnamed=tuple(dict.fromkeys((*shot.sight.cover_pieces, *targets.unnamed))),
    )


def _shot_headline(answer: Mapping[str, bool | int]) -> str:
    parts = ["out of range"]
    if answer["in_range"]:
        parts = ["in half range" if answer["half_range"] else "in range"]
    if not answer["valid_target"]:
        parts.insert(0, "no valid target")
    parts += [name for name in ("advantage", "cover") if answer[name]]
    return f"{', '.join(parts)}, defence {answer['defence']}"


def _shot_probabilities(shot: RangedShot, targets: Targets) -> dict[str, float]:
    """The probability that each part of the answer is true."""
    settled = shot.sight.settled_cover
    if settled is not None:
        cover = float(settled)
    else:
        displacements = joint_displacements(shot.scene, shot.sight.uncertainty.indices)
        cover = float(shot.sight.in_cover_in_draws(displacements).mean())
    return {
        "half_range_probability": shot.range_probabilities[0],
        "cover_probability": cover,
        "valid_target_probability": targets.valid_probability(shot.target.id),
    }
