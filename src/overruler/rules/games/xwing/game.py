"""X-Wing: ranges on a ruler of three bands, range 0, and ranges inside an arc."""

from overruler.rules.fields import (
    BANDS_ABOVE_ZERO,
    BANDS_FROM_ZERO,
    COORDINATE,
    FROM_TO,
    HEADING,
    NAME,
    YES_NO,
    Field,
    Question,
    Tap,
    list_of,
    one_of,
    record_of,
)
from overruler.rules.game import COMMON, Game
from overruler.rules.games.xwing.attacks import attack_range
from overruler.rules.games.xwing.clauses import CLAUSES
from overruler.rules.games.xwing.range_zero import EVENT_TYPES, range0_after
from overruler.rules.games.xwing.ranges import (
    answer_any_distance,
    answer_at,
    answer_beyond,
    answer_range,
    answer_within,
)
from overruler.rules.games.xwing.ship_ruler import NEARER_BAND, pair_ranges

ATTACK = (
    Field("attacker", NAME, "p01", tap="A"),
    Field("defender", NAME, "p02", tap="B"),
    Field("arc", NAME, "front", tap="ARC"),
)
TAPPED_ARCS = ("front", "left", "right", "rear", "full_front", "full_rear", "bullseye")
MOVE_EVENT = record_of(
    Field("type", one_of(EVENT_TYPES)),
    Field("ship", NAME),
    Field("x_mm", COORDINATE),
    Field("y_mm", COORDINATE),
    Field("heading_deg", HEADING),
    Field("last_overlapped", NAME, only_if=("type", "partial_maneuver")),
)
EVENTS = Field(
    "events",
    list_of(MOVE_EVENT),
    [{"type": "move", "ship": "p01", "x_mm": 300, "y_mm": 420, "heading_deg": 90}],
)
OBJECTS = Field("objects", YES_NO, required=False, default=False)

GAME = Game(
    name="xwing",
    title="X-Wing",
    questions={
        **COMMON,
        "distance": Question(answer_any_distance),
        "range": Question(answer_range),
        "at": Question(answer_at, (*FROM_TO, BANDS_FROM_ZERO)),
        "within": Question(answer_within, (*FROM_TO, BANDS_ABOVE_ZERO)),
        "beyond": Question(answer_beyond, (*FROM_TO, BANDS_FROM_ZERO)),
        "attack_range": Question(attack_range, ATTACK),
        "range0_after": Question(range0_after, (EVENTS, OBJECTS)),
    },
    clauses=CLAUSES,
    settings={NEARER_BAND.name: NEARER_BAND},
    taps=(Tap("range", "Range"), Tap("attack_range", "Attack", arcs=TAPPED_ARCS)),
    pair_ranges=pair_ranges,
)
