"""Bands: any game with a ruler of its own, which the scene brings."""

from overruler.rules.fields import FROM_TO, Field, Question, Tap, bands_field, unread
from overruler.rules.game import COMMON, Game
from overruler.rules.games.bands.clauses import CLAUSES
from overruler.rules.games.bands.ranges import (
    answer_at,
    answer_beyond,
    answer_range,
    answer_within,
)

BANDS = bands_field(0)
BANDS_ABOVE_ZERO = Field(
    "range", unread(BANDS.type.schema | {"contains": {"minimum": 1}}), BANDS.example
)

GAME = Game(
    name="bands",
    title="Any game with a ruler of its own",
    questions={
        **COMMON,
        "range": Question(answer_range),
        "at": Question(answer_at, (*FROM_TO, BANDS)),
        "within": Question(answer_within, (*FROM_TO, BANDS_ABOVE_ZERO)),
        "beyond": Question(answer_beyond, (*FROM_TO, BANDS)),
    },
    clauses=CLAUSES,
    taps=(Tap("range", "Range"),),
    needs_ruler=True,
)
