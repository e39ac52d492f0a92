"""Bands: any game with a ruler of its own, which the scene brings."""

from overruler.rules.fields import BANDS_ABOVE_ZERO, BANDS_FROM_ZERO, FROM_TO, Question, Tap
from overruler.rules.game import COMMON, Game
from overruler.rules.games.bands.clauses import CLAUSES
from overruler.rules.games.bands.ranges import (
    answer_at,
    answer_beyond,
    answer_range,
    answer_within,
)

GAME = Game(
    name="bands",
    title="Any game with a ruler of its own",
    questions={
        **COMMON,
        "range": Question(answer_range),
        "at": Question(answer_at, (*FROM_TO, BANDS_FROM_ZERO)),
        "within": Question(answer_within, (*FROM_TO, BANDS_ABOVE_ZERO)),
        "beyond": Question(answer_beyond, (*FROM_TO, BANDS_FROM_ZERO)),
    },
    clauses=CLAUSES,
    taps=(Tap("range", "Range"),),
    needs_ruler=True,
)
