"""Legion: ranges on a ruler of five segments."""

from typing import TYPE_CHECKING

from overruler.rules.fields import (
    FROM_TO,
    NAME,
    Field,
    Question,
    Tap,
    bands_field,
    bands_from,
    record_of,
    unread,
)
from overruler.rules.game import COMMON, Game, ruler_of
from overruler.rules.games.legion.attacks import RANGED_IN_CONTACT, answer_weapon, attack_range
from overruler.rules.games.legion.clauses import CLAUSES
from overruler.rules.games.legion.ranges import (
    answer_any_distance,
    answer_at,
    answer_beyond,
    answer_range,
    mark_range_one,
)
from overruler.rules.games.legion.within import (
    ANY_PART_WITHIN,
    answer_completely_within,
    answer_not_within,
    answer_within,
)
from overruler.scene import Scene

if TYPE_CHECKING:
    from overruler.rules.pair_ranges import PairRanges

BANDS = (*FROM_TO, bands_field(1))
ATTACK = (Field("attacker", NAME, "troopers", tap="A"), Field("defender", NAME, "guards", tap="B"))
WEAPON_RANGE = unread({"anyOf": [{"const": "melee"}, bands_from(1).schema]})
WEAPON = Field("weapon", record_of(Field("range", WEAPON_RANGE)), {"range": [2, 4]})


def pair_ranges(scene: Scene) -> "PairRanges":
    """How `rules.matrix` reads distances as ranges: contact is range 1."""
    from overruler.rules.pair_ranges import RulerRanges

    return RulerRanges((0.0, *ruler_of(scene).lines_mm), contact_range=1)


GAME = Game(
    name="legion",
    title="Legion",
    questions={
        **COMMON,
        "distance": Question(answer_any_distance),
        "range": Question(answer_range),
        "at": Question(answer_at, BANDS),
        "within": Question(answer_within, BANDS),
        "completely_within": Question(answer_completely_within, BANDS),
        "not_within": Question(answer_not_within, BANDS),
        "beyond": Question(answer_beyond, BANDS),
        "attack_range": Question(attack_range, ATTACK),
        "weapon": Question(answer_weapon, (*ATTACK, WEAPON)),
        "mark_range_one": Question(mark_range_one),
    },
    clauses=CLAUSES,
    settings={setting.name: setting for setting in (RANGED_IN_CONTACT, ANY_PART_WITHIN)},
    taps=(Tap("range", "Range"), Tap("attack_range", "Attack", by_unit=True)),
    pair_ranges=pair_ranges,
)
