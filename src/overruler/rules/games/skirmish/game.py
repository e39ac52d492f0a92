"""Skirmish: who may shoot, at whom, and what comes of it."""

from overruler.rules.eye_lines import SIGHT
from overruler.rules.fields import NAME, WHOLE_NUMBER, Field, Question, Tap, list_of, whole_between
from overruler.rules.game import COMMON, Game, StatField
from overruler.rules.games.skirmish.clauses import CLAUSES
from overruler.rules.games.skirmish.may_shoot import may_shoot
from overruler.rules.games.skirmish.outcomes import HIGHEST_ROLL, resolve_shot
from overruler.rules.games.skirmish.shots import answer_shot
from overruler.rules.games.skirmish.targeting import answer_targets

UNIT = Field("unit", NAME, "p01", tap="A")
SHOT = (UNIT, Field("target", NAME, "p02", tap="B"))
DICE = (
    Field("ranged", WHOLE_NUMBER, 12),
    Field("ranged_roll", list_of(whole_between(1, HIGHEST_ROLL), 1, 2), [15]),
    Field("defence_rolls", list_of(WHOLE_NUMBER), [9]),
)
STAT_FIELDS = (
    StatField("defence", "Defence", "whole"),
    StatField("wounds", "Wounds left", "whole"),
    StatField("ranged_weapon.range_in", "Weapon's range, in", "number"),
    StatField("ranged_weapon.piercing", "Its piercing", "whole"),
    StatField("ranged_weapon.injury", "Its injury", "whole"),
    StatField("ranged_weapon.long_reload", "Long reload", "flag"),
    StatField("large", "Large", "flag"),
    StatField("moved", "Moved", "flag", next_turn=""),
    StatField("ran", "Ran", "flag", next_turn=""),
    StatField("cast", "Cast", "flag", next_turn=""),
    StatField("engaged", "Engaged", "flag"),
    StatField("stunned", "Stunned", "flag"),
    StatField("dazed", "Dazed", "flag"),
    StatField("shot_last_turn", "Shot last turn", "flag", next_turn="shot_this_turn"),
    StatField("shot_this_turn", "Shot this turn", "flag", next_turn=""),
)

GAME = Game(
    name="skirmish",
    title="Skirmish",
    questions={
        **COMMON,
        "may_shoot": Question(may_shoot, (UNIT,)),
        "targets": Question(answer_targets, (UNIT,)),
        "shot": Question(answer_shot, SHOT),
        "resolve_shot": Question(resolve_shot, (*SHOT, *DICE)),
    },
    clauses=CLAUSES,
    settings={SIGHT.name: SIGHT},
    taps=(Tap("shot", "Shot", needs={"A": "ranged_weapon", "B": "defence"}),),
    stat_fields=STAT_FIELDS,
)
