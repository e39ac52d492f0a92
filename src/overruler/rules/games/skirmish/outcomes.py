"""What a shot of Skirmish comes to, by the dice rolled."""

from dataclasses import dataclass, replace

from overruler.reading import Node
from overruler.rules.clauses import clauses_that_hold
from overruler.rules.games.skirmish.shots import RangedShot
from overruler.rules.sampling import yes_no_probabilities
from overruler.scene import Scene
from overruler.verdict import Verdict

HIGHEST_ROLL = 20
"""The highest face of a die."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Whether a shot hits, and what it costs the target."""

    hit: bool
    critical: bool
    wounds: int
    """The number of wounds that the target loses."""
    wounds_before: int | None
    """The number that it had; None where that is not told."""
    misses_a_roll: bool
    """Whether the shooter had advantage, and one roll was told."""

    @property
    def is_injured(self) -> bool:
        """Whether the target has no wounds left; where they are not told, whether it loses one."""
        return self.wounds > 0 and self.wounds >= (self.wounds_before or 0)

    @property
    def headline(self) -> str:
        """The outcome in a few words."""
        told = "; advantage asks for two rolls" if self.misses_a_roll else ""
        return self._result + told

    @property
    def _result(self) -> str:
        if not self.hit:
            return "a miss"
        kind = "a critical hit" if self.critical else "a hit"
        if not self.wounds:
            return f"{kind}, saved"
        return f"{kind}, a wound lost" if self.wounds == 1 else f"{kind}, {self.wounds} wounds lost"

    def clauses(self, rolls: int, spare_defences: bool) -> tuple[str, ...]:
        """The clauses that it rests on; `spare_defences`: whether rolls in defence are unused."""
        wounded, injured = self.wounds > 0, self.is_injured
        holds = {
            "ranged_check": True,
            "two_rolls": rolls == 2,
            "one_roll": self.misses_a_roll,
            "critical": self.critical,
            "twenty_hits": self.critical,
            "defence": self.hit,
            "extra_rolls": spare_defences,
            "wound": wounded,
            "wounds_told": wounded and self.wounds_before is not None,
            "injured": injured,
            "injury": injured,
            "improvement": injured,
        }
        return clauses_that_hold(holds, "skirmish")


def resolve_shot(scene: Scene, question: Node) -> Verdict:
    """Whether a shot hits, and what it costs the target, out of the dice rolled."""
    shot = RangedShot.of(scene, question)
    to_reach, rolls = question["ranged"].integer(), _read_rolls(question["ranged_roll"])
    defences = [item.integer() for item in question["defence_rolls"].items()]
    roll, to_save = max(rolls), shot.defence
    hits_in_range = roll >= to_reach or roll == HIGHEST_ROLL
    hit = hits_in_range and shot.in_range
    critical = shot.in_range and roll == HIGHEST_ROLL
    needed = (1 + critical) * hit
    if len(defences) < needed:
        question["defence_rolls"].fail(f"{needed} needed for this hit, found {len(defences)}")
    wounds = sum(value < to_save for value in defences[:needed])
    misses_a_roll = shot.advantage and len(rolls) == 1
    outcome = Outcome(hit, critical, wounds, shot.target.wounds, misses_a_roll)
    probability = None
    if scene.covariance:
        in_range = shot.range_probabilities[1] if hits_in_range else 0.0
        probability = yes_no_probabilities(in_range)
    verdict = shot.verdict()
    return replace(
        verdict,
        answer={
            "hit": hit,
            "critical": critical,
            "wounds_lost": wounds,
            "injury_value": roll + shot.weapon.injury if outcome.is_injured else None,
        },
        headline=outcome.headline,
        rules=(*shot.rules(), *outcome.clauses(len(rolls), len(defences) > needed)),
        value=hit,
        margin_mm=verdict.margin_mm if hits_in_range else None,
        probability=probability,
        unnamed=shot.sight.cover_pieces if hit else (),
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
