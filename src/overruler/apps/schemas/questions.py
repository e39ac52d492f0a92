"""The schemas of the questions that `overruler ask` answers: which there are, and their examples, the games say."""

from collections.abc import Iterable, Mapping, Sequence

from overruler.apps.schemas.words import (
    FLAG,
    INTEGER,
    LENGTH,
    NUMBER,
    POINT,
    TEXT,
    Schema,
    choice,
    record,
    several,
    whole,
)
from overruler.pieces import LARGEST_MM, MOST_SEGMENTS
from overruler.rules import game_of
from overruler.rules.game import COMMON
from overruler.rules.games.positioning.force import KINDS
from overruler.units import mm_from_inches

INCHES: Schema = {"type": "number", "minimum": 0, "maximum": LARGEST_MM / mm_from_inches(1)}
DIE = whole(1, 20)


def bands(least: int) -> Schema:
    """`[2]` or `[1, 2]`; how far the ruler goes the scene says."""
    return several(whole(least, MOST_SEGMENTS), 1, 2)


def names(*keys: str) -> dict[str, Schema]:
    """Keys that name a piece, a unit or a terrain."""
    return dict.fromkeys(keys, TEXT)


BETWEEN = names("from", "to")
PLACED = {"x_mm": LENGTH, "y_mm": LENGTH, "heading_deg": NUMBER}
EVENT: Schema = {
    **record({"type": choice(("move", "partial_maneuver")), "ship": TEXT, **PLACED}),
    "if": {"properties": {"type": {"const": "partial_maneuver"}}},
    "then": {"properties": {"last_overlapped": TEXT}, "required": ["last_overlapped"]},
}
BEYOND_ZERO: Schema = {"contains": {"minimum": 1}}
FORCE: Schema = {
    **record(
        {"kind": choice(KINDS), "actor": TEXT, "distance_in": INCHES}, {"target": TEXT, "targets": several(TEXT, 1)}
    ),
    "oneOf": [{"required": ["target"]}, {"required": ["targets"]}],
    "if": {"properties": {"kind": {"const": "reposition"}}},
    "then": {"properties": {"direction_deg": NUMBER}, "required": ["direction_deg"]},
}
WEAPON = record({"range": {"anyOf": [{"const": "melee"}, bands(1)]}})

QUESTIONS: Mapping[str, Mapping[str, Schema]] = {
    "legion": {
        **{kind: record({**BETWEEN, "range": bands(1)}) for kind in ("at", "within", "beyond")},
        "attack_range": record(names("attacker", "defender")),
        "weapon": record({**names("attacker", "defender"), "weapon": WEAPON}),
    },
    "xwing": {
        **{kind: record({**BETWEEN, "range": bands(0)}) for kind in ("at", "beyond")},
        "within": record({**BETWEEN, "range": bands(0) | BEYOND_ZERO}),
        "attack_range": record(names("attacker", "defender", "arc")),
        "range0_after": record({"events": several(EVENT)}),
    },
    "tide_of_iron": {
        "attack_range": record(
            names("attacker", "target"), {"fire_and_movement": FLAG, "figures": several(whole(0), 1)}
        ),
    },
    "skirmish": {
        **{kind: record(names("unit")) for kind in ("may_shoot", "targets")},
        "shot": record(names("unit", "target")),
        "resolve_shot": record(
            {
                **names("unit", "target"),
                "ranged": INTEGER,
                "ranged_roll": several(DIE, 1, 2),
                "defence_rolls": several(INTEGER),
            }
        ),
    },
    "positioning": {
        "engaged": record(names("piece")),
        "range": record({**BETWEEN, "range_in": INCHES}),
        "within": record({**BETWEEN, "distance_in": INCHES}),
        "move": record({**names("piece"), "path_mm": several(POINT, 1), "allowance_in": INCHES}),
        "advance": record({**names("piece", "target"), "direction_deg": NUMBER, "distance_in": INCHES}),
        "retreat": record({**names("piece", "target"), "distance_in": INCHES}),
        "force": FORCE,
        "place": record({**names("piece"), "x_mm": LENGTH, "y_mm": LENGTH}),
    },
}
"""What goes with each question, game by game; what is not here is asked `from` and `to`."""


def of_games(games: Sequence[str]) -> Schema:
    """A question of one of some games."""
    defs = {game: {"title": game_of(game).title, "anyOf": list(_questions(game))} for game in games}
    return {"anyOf": [{"$ref": f"#/$defs/{game}"} for game in games], "$defs": defs}


def _questions(game: str) -> Iterable[Schema]:
    rules = game_of(game)
    for kind, rule in rules.questions.items():
        described = game in QUESTIONS or kind in COMMON
        asked = QUESTIONS.get(game, {}).get(kind, record(BETWEEN if described else {}))
        yield {
            **asked,
            "description": (rule.__doc__ or "").partition("\n")[0],
            "properties": {"question": {"const": kind}, **asked["properties"]},
            "required": ["question", *asked["required"]],
            "examples": [rules.example(kind)],
        }
