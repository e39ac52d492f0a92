"""The words that both descriptions of the servers are written with."""

from typing import Any

from overruler.apps.schemas.files import fix
from overruler.apps.schemas.questions import question_schema
from overruler.apps.web.phone.store import ID_ALPHABET, ID_LENGTH
from overruler.games import GAMES

Json = dict[str, Any]


TEXT: Json = {"type": "string"}


NUMBER: Json = {"type": "number"}


SCHEMAS: dict[str, Json] = {
    "Error": {"type": "object", "required": ["error"], "properties": {"error": TEXT}},
    "Measurement": {
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
            "unmeasurable": {
                "type": "boolean",
                "description": "Whether the photo is why it failed.",
            },
        },
    },
    "Question": {
        "anyOf": [
            each for game in question_schema(GAMES)["$defs"].values() for each in game["anyOf"]
        ],
        "description": "As to `overruler ask`; `overruler rules GAME` lists them with examples.",
    },
    "Ruling": {
        "type": "object",
        "required": ["answer", "sentence", "headline", "clauses"],
        "properties": {
            "answer": {"type": "object", "description": "As `overruler ask` prints it."},
            "sentence": TEXT,
            "headline": TEXT,
            "clauses": {"type": "object", "additionalProperties": TEXT},
            "version": {
                "type": "integer",
                "description": "How often the table had been corrected.",
            },
            "drawing": {
                "type": "object",
                "description": "The measured line as SVG path data in the photo's pixels.",
            },
        },
    },
    "Fixes": fix(),
}


def schema_ref(name: str) -> Json:
    return {"$ref": f"#/components/schemas/{name}"}


def _content_of_kind(kind: str, schema: Json) -> Json:
    return {"content": {kind: {"schema": schema}}}


def operation(
    about: str,
    found: Json,
    *refusals: int,
    query: Json | None = None,
    body: Json | None = None,
    status: int = 200,
) -> Json:
    """One operation: what it is about, what it gives, and the statuses of its refusals."""
    said: Json = {"summary": about, "responses": {str(status): {"description": about, **found}}}
    for refusal in (401, 403, 421, *refusals):
        said["responses"][str(refusal)] = {
            "description": REFUSAL_TEXTS[refusal],
            **_content_of_kind("application/json", schema_ref("Error")),
        }
    if query:
        said["parameters"] = [_query_parameter(name, schema) for name, schema in query.items()]
    if body:
        said["requestBody"] = {"required": True, **body}
    return said


def _query_parameter(name: str, schema: Json) -> Json:
    told = {"name": name, "in": "query", "required": schema.get("needed", False)}
    schema = {key: value for key, value in schema.items() if key != "needed"}
    return {**told, **(schema if "content" in schema else {"schema": schema})}


REFUSAL_TEXTS = {
    401: "The key is missing or wrong.",
    403: "A page of another site asked.",
    404: "There is no such measurement, or nothing of it yet.",
    412: "Somebody else has corrected the table since the version that If-Match names.",
    413: "Too large.",
    415: "Not a photo.",
    421: "Not the name that the server goes by.",
    422: "Something in the request makes no sense; the error says what.",
    500: "The photo came to nothing for a reason of the server's own.",
    503: "Too much is waiting.",
}


def json_content(schema: Json) -> Json:
    return _content_of_kind("application/json", schema)


def binary_content(kind: str) -> Json:
    return _content_of_kind(kind, {"type": "string", "format": "binary"})
