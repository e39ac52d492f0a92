"""The schemas of the questions that `overruler ask` answers: which there are, and their examples, the games say."""

from collections.abc import Iterable, Mapping, Sequence

from overruler.apps.schemas.primitives import (
    FLAG,
    INTEGER,
    LENGTH,
    NUMBER,
    POINT,
    TEXT,
    Schema,
    array_of,
    enum_of,
    integer_between,
    object_with,
)
from overruler.pieces import MAX_LENGTH_MM, MAX_SEGMENTS
from overruler.rules import game_of
from overruler.rules.game import COMMON
from overruler.rules.games.positioning.force import FORCE_KINDS
from overruler.units import mm_from_inches

INCHES: Schema = {"type": "number", "minimum": 0, "maximum": MAX_LENGTH_MM / mm_from_inches(1)}
DIE = integer_between(1, 20)


def range_bands(least: int) -> Schema:
    """`[2]` or `[1, 2]`; how far the ruler goes the scene says."""
    return array_of(integer_between(least, MAX_SEGMENTS), 1, 2)


def name_keys(*keys: str) -> dict[str, Schema]:
    """Keys that name a piece, a unit or a terrain."""
    return dict.fromkeys(keys, TEXT)


FROM_TO = name_keys("from", "to")
POSE = {"x_mm": LENGTH, "y_mm": LENGTH, "heading_deg": NUMBER}
MOVE_EVENT: Schema = {
    **object_with({"type": enum_of(("move", "partial_maneuver")), "ship": TEXT, **POSE}),
    "if": {"properties": {"type": {"const": "partial_maneuver"}}},
    "then": {"properties": {"last_overlapped": TEXT}, "required": ["last_overlapped"]},
}
ABOVE_RANGE_ZERO: Schema = {"contains": {"minimum": 1}}
FORCED_MOVE: Schema = {
    **object_with(
        {"kind": enum_of(FORCE_KINDS), "actor": TEXT, "distance_in": INCHES},
        {"target": TEXT, "targets": array_of(TEXT, 1)},
    ),
    "oneOf": [{"required": ["target"]}, {"required": ["targets"]}],
    "if": {"properties": {"kind": {"const": "reposition"}}},
    "then": {"properties": {"direction_deg": NUMBER}, "required": ["direction_deg"]},
}
WEAPON = object_with({"range": {"anyOf": [{"const": "melee"}, range_bands(1)]}})

QUESTIONS: Mapping[str, Mapping[str, Schema]] = {
    "legion": {
        **{
            kind: object_with({**FROM_TO, "range": range_bands(1)})
            for kind in ("at", "within", "beyond")
        },
        "attack_range": object_with(name_keys("attacker", "defender")),
        "weapon": object_with({**name_keys("attacker", "defender"), "weapon": WEAPON}),
    },
    "xwing": {
        **{kind: object_with({**FROM_TO, "range": range_bands(0)}) for kind in ("at", "beyond")},
        "within": object_with({**FROM_TO, "range": range_bands(0) | ABOVE_RANGE_ZERO}),
        "attack_range": object_with(name_keys("attacker", "defender", "arc")),
        "range0_after": object_with({"events": array_of(MOVE_EVENT)}),
    },
    "tide_of_iron": {
        "attack_range": object_with(
            name_keys("attacker", "target"),
            {"fire_and_movement": FLAG, "figures": array_of(integer_between(0), 1)},
        )
    },
    "skirmish": {
        **{kind: object_with(name_keys("unit")) for kind in ("may_shoot", "targets")},
        "shot": object_with(name_keys("unit", "target")),
        "resolve_shot": object_with(
            {
                **name_keys("unit", "target"),
                "ranged": INTEGER,
                "ranged_roll": array_of(DIE, 1, 2),
                "defence_rolls": array_of(INTEGER),
            }
        ),
    },
    "positioning": {
        "engaged": object_with(name_keys("piece")),
        "range": object_with({**FROM_TO, "range_in": INCHES}),
        "within": object_with({**FROM_TO, "distance_in": INCHES}),
        "move": object_with(
            {**name_keys("piece"), "path_mm": array_of(POINT, 1), "allowance_in": INCHES}
        ),
        "advance": object_with(
            {**name_keys("piece", "target"), "direction_deg": NUMBER, "distance_in": INCHES}
        ),
        "retreat": object_with({**name_keys("piece", "target"), "distance_in": INCHES}),
        "force": FORCED_MOVE,
        "place": object_with({**name_keys("piece"), "x_mm": LENGTH, "y_mm": LENGTH}),
    },
}
"""What goes with each question, game by game; what is not here is asked `from` and `to`."""


def question_schema(games: Sequence[str]) -> Schema:
    """A question of one of some games."""
    defs = {game: {"title": game_of(game).title, "anyOf": list(_questions(game))} for game in games}
    return {"anyOf": [{"$ref": f"#/$defs/{game}"} for game in games], "$defs": defs}


def _questions(game: str) -> Iterable[Schema]:
    rules = game_of(game)
    for kind, rule in rules.questions.items():
        described = game in QUESTIONS or kind in COMMON
        asked = QUESTIONS.get(game, {}).get(kind, object_with(FROM_TO if described else {}))
        yield {
            **asked,
            "description": (rule.__doc__ or "").partition("\n")[0],
            "properties": {"question": {"const": kind}, **asked["properties"]},
            "required": ["question", *asked["required"]],
            "examples": [rules.example(kind)],
        }
