"""Tide of Iron: ranges counted in hexes."""

from typing import TYPE_CHECKING

from overruler.rules.fields import Question, Tap
from overruler.rules.game import COMMON, Game, StatField
from overruler.rules.games.tide_of_iron.attacks import (
    ATTACKER,
    FIGURES,
    FIRE_AND_MOVEMENT,
    TARGET,
    attack_range,
)
from overruler.rules.games.tide_of_iron.clauses import CLAUSES
from overruler.rules.games.tide_of_iron.squads import GROUND_LEVELS, TARGET_TYPES
from overruler.scene import Scene

if TYPE_CHECKING:
    from overruler.rules.pair_ranges import PairRanges

ATTACK = (ATTACKER, TARGET, FIRE_AND_MOVEMENT, FIGURES)
NEEDS = {"A": "figures"}


def pair_ranges(scene: Scene) -> "PairRanges":
    """How `rules.matrix` reads distances as ranges: not at all, it counts hexes."""
    from overruler.rules.games.tide_of_iron.pair_ranges import HexRanges

    return HexRanges(scene)


GAME = Game(
    name="tide_of_iron",
    title="Tide of Iron",
    questions={**COMMON, "attack_range": Question(attack_range, ATTACK)},
    clauses=CLAUSES,
    taps=(
        Tap("hexes", "Hexes", on_grid=True),
        Tap("attack_range", "Attack", needs=NEEDS, on_grid=True),
        Tap("attack_range", "On the move", {"fire_and_movement": True}, needs=NEEDS, on_grid=True),
    ),
    stat_fields=(
        StatField("figures", "Range of each figure", "figures"),
        StatField("type", "Type", "choice", TARGET_TYPES),
        StatField("elevation", "Level", "choice", GROUND_LEVELS),
    ),
    pair_ranges=pair_ranges,
)
