"""JSON Schemas and OpenAPI content objects that both servers describe themselves with."""

from typing import Any

from overruler.apps.schemas.files import fix
from overruler.apps.schemas.questions import question_schema
from overruler.apps.web.phone.store import ID_ALPHABET, ID_LENGTH
from overruler.games import GAMES

Json = dict[str, Any]

TEXT: Json = {"type": "string"}
"""Schema of a text."""
NUMBER: Json = {"type": "number"}
"""Schema of a number."""

_ERROR: Json = {
    "type": "object",
    "required": ["error"],
    "properties": {"error": TEXT, "after": TEXT},
}
_MEASUREMENT: Json = {
    "type": "object",
    "required": ["id", "created_s", "state", "step", "game", "table", "version"],
    "properties": {
        "id": {"type": "string", "pattern": f"^[{ID_ALPHABET}]{{{ID_LENGTH}}}$"},
        "created_s": NUMBER | {"description": "Seconds since 1970."},
        "state": {"enum": ["queued", "measuring", "done", "failed"]},
        "step": TEXT | {"description": "What is being done, or why it failed."},
        "game": {"enum": list(GAMES)},
        "table": TEXT,
        "version": {"type": "integer", "description": "How often it was corrected."},
        "pieces": {"type": "integer", "description": "How many bases were found, once done."},
        "by_markers": {"type": "boolean", "description": "Whether its markers tell its table."},
        "unmeasurable": {"type": "boolean", "description": "Whether the photo is why it failed."},
    },
}
_QUESTION: Json = {
    "anyOf": [each for game in question_schema(GAMES)["$defs"].values() for each in game["anyOf"]],
    "description": "As to `overruler ask`; `overruler rules GAME` lists them with examples.",
}
_RULING: Json = {
    "type": "object",
    "required": ["answer", "sentence", "headline", "clauses"],
    "properties": {
        "answer": {"type": "object", "description": "As `overruler ask` prints it."},
        "sentence": TEXT,
        "headline": TEXT,
        "clauses": {"type": "object", "additionalProperties": TEXT},
        "version": {"type": "integer", "description": "How often the table had been corrected."},
        "drawing": {
            "type": "object",
            "description": "The measured line as SVG path data in the photo's pixels.",
        },
    },
}
SCHEMAS: dict[str, Json] = {
    "Error": _ERROR,
    "Measurement": _MEASUREMENT,
    "Question": _QUESTION,
    "Ruling": _RULING,
    "Fixes": fix(),
}
"""Schemas that a document refers to by name."""


def schema_ref(name: str) -> Json:
    return {"$ref": f"#/components/schemas/{name}"}


def json_content(schema: Json) -> Json:
    """Content object of a JSON body."""
    return _content("application/json", schema)


def binary_content(media_type: str) -> Json:
    """Content object of a file."""
    return _content(media_type, {"type": "string", "format": "binary"})


def _content(media_type: str, schema: Json) -> Json:
    return {"content": {media_type: {"schema": schema}}}


ANY_OBJECT = json_content({"type": "object"})
"""Content of an answer whose keys are not described."""
