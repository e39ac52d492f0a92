"""The OpenAPI document of the live server: its pages' state, its buttons, and what programs may ask."""

from overruler import __version__
from overruler.apps.web.live.action_table import ACTIONS, Action
from overruler.apps.web.live.graphics import LAYERS
from overruler.apps.web.openapi_words import (
    NUMBER,
    SCHEMAS,
    TEXT,
    Json,
    binary_content,
    json_content,
    operation,
    schema_ref,
)

_ABOUT = (
    "Range lines and rulings over a camera's picture. Every action is a POST with its arguments in the address, as a "
    'Stream Deck sends it; `WS /api/live/air` tells the state whenever it changes. Every refusal is JSON: {"error": '
    "one line for people}."
)
STATE_SCHEMA: Json = {
    "type": "object",
    "required": [
        "version",
        "size_px",
        "lost",
        "notes",
        "calibrated",
        "pieces",
        "waiting",
        "on_air",
    ],
    "properties": {
        "version": {
            "type": "integer",
            "description": "Another one whenever something has changed.",
        },
        "size_px": {
            "type": "array",
            "items": {"type": "integer"},
            "description": "Of the camera's picture.",
        },
        "lost": TEXT | {"type": ["string", "null"], "description": "Why there are no pictures."},
        "notes": {"type": "array", "items": TEXT, "description": "What the caster should know."},
        "calibrated": {"type": "boolean", "description": "Whether the table has been measured."},
        "pieces": {
            "type": "array",
            "items": {"type": "object"},
            "description": "Each with its state and outline.",
        },
        "pair": {"type": ["array", "null"], "items": TEXT},
        "bands": {"type": "array", "items": TEXT},
        "arcs": {"type": "array", "items": TEXT},
        "questions": {
            "type": "array",
            "items": {"type": "object"},
            "description": "What a pair can ask.",
        },
        "waiting": {
            "type": "array",
            "items": TEXT,
            "description": "Why something wanted is not on air.",
        },
        "ruling": {"type": ["object", "null"]},
        "on_air": {"type": "boolean", "description": "Whether anything may be shown at all."},
    },
}


def openapi_document() -> Json:
    """The whole document."""
    named = ("Error", "Question", "Fixes")
    return {
        "openapi": "3.1.0",
        "info": {"title": "Overruler live", "version": __version__, "description": _ABOUT},
        "paths": {
            **_picture_paths(),
            **_program_paths(),
            **{f"/api/live/do/{name}": _action_operation(ACTIONS[name]) for name in ACTIONS},
        },
        "components": {
            "schemas": {name: SCHEMAS[name] for name in named} | {"State": STATE_SCHEMA},
            "securitySchemes": {
                "key": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "The key in the address; with --lan only.",
                }
            },
        },
        "security": [{}, {"key": []}],
    }


def _action_operation(button: Action) -> Json:
    query = {name: TEXT | {"needed": True} for name in button.required} | {
        name: _argument_schema(name) for name in button.optional
    }
    return {"post": operation(button.about, json_content(schema_ref("State")), 422, query=query)}


def _argument_schema(name: str) -> Json:
    return NUMBER | {"minimum": 0, "maximum": 1000} if name == "reach_in" else dict(TEXT)


def _picture_paths() -> Json:
    layers = "|".join(LAYERS)
    about = {"description": f"Only these of {', '.join(LAYERS)}, with commas between."}
    shown = {"show": TEXT | {"pattern": f"^({layers})(,({layers}))*$"} | about}
    wide, narrower = (
        {"width": {"type": "integer", "minimum": 16, "maximum": most}} for most in (3840, 1920)
    )
    jpeg = binary_content("image/jpeg")
    return {
        "/overlay.png": {
            "get": operation(
                "What is on air, with alpha", binary_content("image/png"), 422, query=shown | wide
            )
        },
        "/overlay.webm": {
            "get": operation(
                "The ruling on air as a film with alpha",
                binary_content("video/webm"),
                422,
                503,
                query=narrower,
            )
        },
        "/api/live/picture.jpg": {"get": operation("The camera's picture", jpeg, 404)},
        "/api/live/frozen.jpg": {"get": operation("The picture that is held", jpeg, 404)},
    }


def _program_paths() -> Json:
    anything, state = json_content({"type": "object"}), json_content(schema_ref("State"))
    question, fixes = json_content(schema_ref("Question")), json_content(schema_ref("Fixes"))
    return {
        "/api/live": {"get": operation("The state", state)},
        "/api/live/scene": {
            "get": operation("The scene file as the table last came to rest", anything, 404)
        },
        "/api/live/ask": {
            "post": operation("Rule on a question", anything, 404, 413, 422, body=question)
        },
        "/api/live/fix": {"post": operation("Correct what was found", state, 413, 422, body=fixes)},
        "/api/live/openapi.json": {"get": operation("This document", anything)},
    }
