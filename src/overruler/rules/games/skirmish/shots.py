"""A shot in Skirmish: what counts for it, and what comes of the dice."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from overruler.reading import Node
from overruler.rules.changes import smallest_changes
from overruler.rules.game import answer_distance
from overruler.rules.games.skirmish.shooters import Fighter, Weapon, read_fighters, read_piece_index
from overruler.rules.games.skirmish.targeting import Targets, TargetSight, is_below
from overruler.rules.measure import Measure, band_of, between
from overruler.rules.sampled.sightlines import joint_displacements
from overruler.rules.uncertainty import distance_uncertainty
from overruler.scene import Scene
from overruler.units import CONTACT_TOLERANCE_MM
from overruler.verdict import Verdict

COVER_PIERCING = MOVED_PIERCING = -3
HIGHEST_ROLL = 20
"""The highest face of a die."""


def yes_no_probabilities(share: float) -> dict[str, float]:
    """The probabilities of yes and no."""
    return {"true": share, "false": 1 - share}


@dataclass(frozen=True, eq=False)
class RangedShot:
    """A shooter with its weapon and a target, both named."""

    scene: Scene
    question: Node
    look: TargetSight
    weapon: Weapon

    @classmethod
    def of(cls, scene: Scene, question: Node) -> "RangedShot":
        i, j = (
            read_piece_index(scene, question["unit"]),
            read_piece_index(scene, question["target"]),
        )
        if i == j:
            question["target"].fail(f"{question['target'].value!r} is the shooter itself")
        units = read_fighters(scene)
        weapon = units[i].weapon
        if weapon is None:
            question["unit"].fail(f"{units[i].id!r} has no ranged weapon")
        return cls(scene, question, TargetSight(scene, units[i], units[j]), weapon)

    @property
    def shooter(self) -> Fighter:
        return self.look.shooter

    @property
    def target(self) -> Fighter:
        return self.look.target

    @cached_property
    def measure(self) -> Measure:
        """Between the two bases."""
        return between(self.scene, self.question, "unit", "target")

    @property
    def lines_mm(self) -> tuple[float, float]:
        """Half the weapon's range, and the range."""
        return self.weapon.range_mm / 2, self.weapon.range_mm

    @property
    def in_range(self) -> bool:
        return self.look.distance_mm <= self.weapon.range_mm + CONTACT_TOLERANCE_MM

    @property
    def half_range(self) -> bool:
        return self.look.distance_mm <= self.weapon.range_mm / 2 + CONTACT_TOLERANCE_MM

    @property
    def advantage(self) -> bool:
        return self.half_range and is_below(self.shooter, self.target)

    @property
    def piercing(self) -> int:
        """The weapon's, with all that changes it."""
        moved = "moved" in self.shooter.flags
        return self.weapon.piercing + COVER_PIERCING * self.look.in_cover + MOVED_PIERCING * moved

    @property
    def defence(self) -> int:
        """The number that the target must roll."""
        return self.target.defence + self.piercing

    @cached_property
    def range_probabilities(self) -> tuple[float, float]:
        """The probability of half range, and of the range."""
        doubt = distance_uncertainty(self.scene, self.measure, self.lines_mm)
        assert doubt is not None
        return doubt.band_probabilities[0], doubt.band_probabilities[0] + doubt.band_probabilities[
            1
        ]

    def verdict(self) -> Verdict:
        """The distance, and how far inside the weapon's range."""
        ends = Node({"from": self.shooter.id, "to": self.target.id}, self.question.name)
        margin = self.weapon.range_mm - self.look.distance_mm
        lines = self.lines_mm
        band = band_of(self.measure.distance_mm, lines)
        return replace(
            answer_distance(self.scene, ends),
            margin_mm=margin,
            lines_mm=lines,
            changes=smallest_changes(self.measure, lines, band, lambda band: band < len(lines)),
            question=self.question.value,
        )

    def rules(self) -> tuple[str, ...]:
        """The clauses on range and on the number to roll in defence."""
        names = {
            "piercing": True,
            "cover": True,
            "cover_piercing": self.look.in_cover,
            "moved": "moved" in self.shooter.flags,
        }
        return (
            *("any.edge_to_edge", "skirmish.declared", "skirmish.range"),
            *(f"skirmish.{name}" for name, holds in names.items() if holds),
            *self.look.rules("in_cover"),
        )


def answer_shot(scene: Scene, question: Node) -> Verdict:
    """All that counts for a shot at a target."""
    made = RangedShot.of(scene, question)
    choice = Targets.of(scene, made.shooter.index)
    answer = {
        "valid_target": made.target.id in choice.valid,
        "in_range": made.in_range,
        "half_range": made.half_range,
        "advantage": made.advantage,
        "cover": made.look.in_cover,
        "piercing": made.piercing,
        "defence": made.defence,
    }
    elevated = ("skirmish.advantage",) if is_below(made.shooter, made.target) else ()
    return replace(
        made.verdict(),
        answer=answer | (_shot_probabilities(made, choice) if scene.covariance else {}),
        headline=_shot_headline(answer),
        rules=tuple(dict.fromkeys((*made.rules(), *elevated, *choice.rules()))),
        value=made.in_range,
        probability=yes_no_probabilities(made.range_probabilities[1]) if scene.covariance else None,
    )


def _shot_headline(answer: dict[str, bool | int]) -> str:
    marks = [name.replace("_", " ") for name in ("advantage", "cover") if answer[name]]
    where = (
        "in half range"
        if answer["half_range"]
        else "in range"
        if answer["in_range"]
        else "out of range"
    )
    target = "" if answer["valid_target"] else "no valid target, "
    return f"{target}{', '.join([where, *marks])}, defence {answer['defence']}"


def _shot_probabilities(made: RangedShot, choice: Targets) -> dict[str, float]:
    """How likely each part of the answer is true."""
    sure = made.look.settled_cover
    drawn = (
        made.look.in_cover_in_draws(
            joint_displacements(made.scene, made.look.uncertainty.indices)
        ).mean()
        if sure is None
        else sure
    )
    return {
        "half_range_probability": made.range_probabilities[0],
        "cover_probability": float(drawn),
        "valid_target_probability": choice.valid_probability(made.target.id),
    }


# --- what comes of it ---


def resolve_shot(scene: Scene, question: Node) -> Verdict:
    """Whether a shot hits, and what it costs the target, out of the dice rolled."""
    made = RangedShot.of(scene, question)
    number, rolls = question["ranged"].integer(), _read_rolls(question["ranged_roll"])
    defences = [item.integer() for item in question["defence_rolls"].items()]
    roll, to_save = max(rolls), made.defence
    good = roll >= number or roll == HIGHEST_ROLL
    hit, critical = good and made.in_range, made.in_range and roll == HIGHEST_ROLL
    called = (1 + critical) * hit
    if len(defences) < called:
        question["defence_rolls"].fail(f"{called} needed for this hit, found {len(defences)}")
    lost = sum(value < to_save for value in defences[:called])
    answer = {"hit": hit, "critical": critical, "wounds_lost": lost}
    verdict = made.verdict()
    return replace(
        verdict,
        answer=answer | {"injury_value": roll + made.weapon.injury if lost else None},
        headline=_outcome_headline(hit, critical, lost),
        rules=(
            *made.rules(),
            *_outcome_clauses(hit, critical, lost, len(rolls), len(defences) > called),
        ),
        value=hit,
        margin_mm=verdict.margin_mm if good else None,
        probability=yes_no_probabilities(made.range_probabilities[1] if good else 0.0)
        if scene.covariance
        else None,
    )


def _read_rolls(node: Node) -> list[int]:
    """One or two natural rolls."""
    rolls = [item.integer() for item in node.items()]
    if len(rolls) not in (1, 2):
        node.fail(f"expected one roll or two, found {len(rolls)}")
    for item in node.items():
        if not 1 <= item.integer() <= HIGHEST_ROLL:
            item.fail(f"a die shows 1 to {HIGHEST_ROLL}, found {item.integer()}")
    return rolls


def _outcome_headline(hit: bool, critical: bool, lost: int) -> str:
    if not hit:
        return "a miss"
    kind = "a critical hit" if critical else "a hit"
    return f"{kind}, " + (
        "saved" if not lost else "a wound lost" if lost == 1 else f"{lost} wounds lost"
    )


def _outcome_clauses(
    hit: bool, critical: bool, lost: int, rolls: int, spare: bool
) -> Sequence[str]:
    """The clauses that the outcome rests on."""
    names = {
        "ranged_check": True,
        "two_rolls": rolls == 2,
        "critical": critical,
        "twenty_hits": critical,
        "defence": hit,
        "extra_rolls": spare,
        "wound": lost > 0,
        "injured": lost > 0,
        "injury": lost > 0,
        "improvement": lost > 0,
    }
    return [f"skirmish.{name}" for name, holds in names.items() if holds]
