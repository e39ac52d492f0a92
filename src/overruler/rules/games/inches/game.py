"""Inches: any game that measures in inches, from base edge to base edge."""

from overruler.rules.fields import FROM_TO, Question, Tap
from overruler.rules.game import COMMON, Game, StatField
from overruler.rules.games.inches import fields
from overruler.rules.games.inches.clauses import CLAUSES
from overruler.rules.games.inches.coherency import answer_coherency
from overruler.rules.games.inches.control import answer_controls
from overruler.rules.games.inches.distances import (
    answer_engaged,
    answer_range,
    answer_wholly_within,
    answer_within,
)

WITHIN = (*FROM_TO, fields.WITHIN_IN)
ENGAGED = (*FROM_TO, fields.HORIZONTAL_IN, fields.VERTICAL_IN)
COHERENCY = (
    fields.UNIT,
    fields.COHERENCY_IN,
    fields.VERTICAL_IN,
    fields.NEIGHBOURS,
    fields.SPREAD_IN,
)
CONTROLS = (fields.OBJECTIVE, fields.CONTROL_IN, fields.CONTROL_VALUE)

GAME = Game(
    name="inches",
    title="Any game in inches",
    questions={
        **COMMON,
        "range": Question(answer_range),
        "within": Question(answer_within, WITHIN),
        "wholly_within": Question(answer_wholly_within, WITHIN),
        "engaged": Question(answer_engaged, ENGAGED),
        "coherency": Question(answer_coherency, COHERENCY),
        "controls": Question(answer_controls, CONTROLS),
    },
    clauses=CLAUSES,
    taps=(
        Tap("within", "Within", reach_in=6),
        Tap("wholly_within", "Wholly within", reach_in=6),
        Tap("engaged", "Engaged"),
        Tap("coherency", "Coherency", by_unit=True),
        Tap("controls", "Control"),
    ),
    stat_fields=(StatField("control", "Control", "number"),),
)
