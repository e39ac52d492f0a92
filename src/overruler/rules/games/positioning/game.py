"""Positioning: contact, ranges, moves and forced moves in inches."""

from overruler.rules.eye_lines import SIGHT
from overruler.rules.fields import FROM_TO, Question, Tap
from overruler.rules.game import COMMON, Game, StatField
from overruler.rules.games.positioning import fields
from overruler.rules.games.positioning.clauses import CLAUSES
from overruler.rules.games.positioning.contact import (
    answer_b2b,
    answer_engaged,
    answer_range,
    answer_within,
)
from overruler.rules.games.positioning.forced import answer_force
from overruler.rules.games.positioning.straight import (
    answer_advance,
    answer_move,
    answer_place,
    answer_retreat,
)
from overruler.rules.sight import answer_cover, answer_los

MOVE = (fields.PIECE, fields.PATH_MM, fields.ALLOWANCE_IN)
ADVANCE = (fields.PIECE, fields.TARGET, fields.DIRECTION_DEG, fields.ADVANCE_IN)
RETREAT = (fields.PIECE, fields.TARGET, fields.RETREAT_IN)
FORCE = (
    fields.FORCE_KIND,
    fields.ACTOR,
    fields.FORCE_TARGET,
    fields.FORCE_TARGETS,
    fields.FORCE_IN,
    fields.REPOSITION_DEG,
)
PLACE = (fields.PIECE, fields.X_MM, fields.Y_MM)

GAME = Game(
    name="positioning",
    title="Positioning",
    questions={
        **COMMON,
        "b2b": Question(answer_b2b),
        "engaged": Question(answer_engaged, (fields.PIECE,)),
        "range": Question(answer_range, (*FROM_TO, fields.RANGE_IN)),
        "within": Question(answer_within, (*FROM_TO, fields.WITHIN_IN)),
        "move": Question(answer_move, MOVE),
        "advance": Question(answer_advance, ADVANCE),
        "retreat": Question(answer_retreat, RETREAT),
        "force": Question(answer_force, FORCE, one_of=("target", "targets")),
        "place": Question(answer_place, PLACE),
        "los": Question(answer_los),
        "cover": Question(answer_cover),
    },
    clauses=CLAUSES,
    settings={SIGHT.name: SIGHT},
    taps=(
        Tap("within", "Within", reach_in=6),
        Tap("b2b", "Base to base"),
        Tap("los", "Sight"),
        Tap("cover", "Cover"),
    ),
    stat_fields=(StatField("size", "Size", "whole"), StatField("tier", "Tier", "whole")),
)
