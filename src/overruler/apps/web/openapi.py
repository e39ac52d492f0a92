"""The OpenAPI document of the HTTP API, written by hand: what a program may ask, and what it gets."""

from typing import Any

from overruler import __version__
from overruler.apps.schemas.files import fix
from overruler.apps.schemas.questions import of_games
from overruler.apps.web.store import ALPHABET, LENGTH
from overruler.apps.web.wishes import Choices
from overruler.board import DICTIONARIES
from overruler.scene import GAMES

Json = dict[str, Any]
TEXT: Json = {"type": "string"}
NUMBER: Json = {"type": "number"}
ONE = "/api/measurements/{id}"


def document(choices: Choices | None = None) -> Json:
    """The whole document; `choices` are the boards and lenses that may be named."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "Overruler", "version": __version__, "description": _ABOUT},
        "paths": {**_of_the_server(), **_of_measurements(choices or Choices()), **_of_one(choices or Choices())},
        "components": {
            "schemas": SCHEMAS,
            "securitySchemes": {
                "key": {"type": "http", "scheme": "bearer", "description": "The key in the address; with --lan only."}
            },
        },
        "security": [{}, {"key": []}],
    }


_ABOUT = (
    "A photo of a miniatures table in, its scene and rulings out. Lengths are in the unit that a key ends in; places "
    'in a photo are pixels. Every refusal is JSON: {"error": one line for people}.'
)

SCHEMAS: dict[str, Json] = {
    "Error": {"type": "object", "required": ["error"], "properties": {"error": TEXT}},
    "Measurement": {
        "type": "object",
        "required": ["id", "created_s", "state", "step", "game", "table", "version"],
        "properties": {
            "id": {"type": "string", "pattern": f"^[{ALPHABET}]{{{LENGTH}}}$"},
            "created_s": NUMBER | {"description": "Seconds since 1970."},
            "state": {"enum": ["queued", "measuring", "done", "failed"]},
            "step": TEXT | {"description": "What is being done, or why it failed."},
            "game": {"enum": list(GAMES)},
            "table": TEXT,
            "version": {"type": "integer", "description": "How often it was corrected."},
            "pieces": {"type": "integer", "description": "How many bases were found, once done."},
            "unmeasurable": {"type": "boolean", "description": "Whether the photo is why it failed."},
        },
    },
    "Question": {
        "anyOf": [each for game in of_games(GAMES)["$defs"].values() for each in game["anyOf"]],
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
            "version": {"type": "integer", "description": "How often the table had been corrected."},
            "drawing": {"type": "object", "description": "The measured line as SVG path data in the photo's pixels."},
        },
    },
    "Fixes": fix(),
}


def ref(name: str) -> Json:
    return {"$ref": f"#/components/schemas/{name}"}


def _content(kind: str, schema: Json) -> Json:
    return {"content": {kind: {"schema": schema}}}


def operation(
    about: str, found: Json, *refusals: int, query: Json | None = None, body: Json | None = None, status: int = 200
) -> Json:
    """One operation: what it is about, what it gives, and the statuses of its refusals."""
    said: Json = {"summary": about, "responses": {str(status): {"description": about, **found}}}
    for refusal in (401, 403, 421, *refusals):
        said["responses"][str(refusal)] = {
            "description": REFUSALS[refusal],
            **_content("application/json", ref("Error")),
        }
    if query:
        said["parameters"] = [_parameter(name, schema) for name, schema in query.items()]
    if body:
        said["requestBody"] = {"required": True, **body}
    return said


def _parameter(name: str, schema: Json) -> Json:
    told = {"name": name, "in": "query", "required": schema.get("needed", False)}
    schema = {key: value for key, value in schema.items() if key != "needed"}
    return {**told, **(schema if "content" in schema else {"schema": schema})}


REFUSALS = {
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


def as_json(schema: Json) -> Json:
    return _content("application/json", schema)


_FIGURE = r"\d{1,4}(\.\d{1,3})?"
_PLACE = f"{_FIGURE},{_FIGURE}={_FIGURE},{_FIGURE}"


def _wish(choices: Choices) -> Json:
    """How a photo is to be measured; exactly one of table, marker_mm and points is needed, which no schema can say."""
    table = TEXT | {"description": "A board by its name: one of `tables` of /api/about."}
    lens = TEXT | {"description": "A lens by its name: one of `lenses` of /api/about."}
    side = {"description": "Side of the markers' black squares, where they may lie anywhere."}
    places = {"description": "Four places or more: u,v=x,y;u,v=x,y (a pixel = its place in mm)."}
    return {
        "game": {"enum": list(GAMES)},
        "table": table | ({"enum": list(choices.boards)} if choices.boards else {}),
        "marker_mm": {"type": "number", "minimum": 1, "maximum": 1000} | side,
        "dictionary": {"enum": ["auto", *DICTIONARIES], "description": "Family of the markers, with marker_mm."},
        "points": TEXT | {"pattern": f"^{_PLACE}(;{_PLACE}){{3,}}$"} | places,
        "bases": TEXT | {"pattern": r"^[1-9]\d?(,[1-9]\d?)*$", "description": "The bases to look for: 27,50 say."},
        "lens": lens | ({"enum": list(choices.lenses)} if choices.lenses else {}),
    }


def _of_the_server() -> Json:
    return {
        "/api/about": {"get": operation("What the server knows", as_json({"type": "object"}))},
        "/api/openapi.json": {"get": operation("This document", as_json({"type": "object"}))},
    }


def _of_measurements(choices: Choices) -> Json:
    photo = {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}
    found = as_json(ref("Measurement"))
    send = operation("Measure a photo", found, 413, 415, 422, 503, query=_wish(choices), body=photo, status=202)
    newest = operation("The newest measurements", as_json({"type": "array", "items": ref("Measurement")}))
    return {"/api/measurements": {"get": newest, "post": send}}


def _of_one(choices: Choices) -> Json:
    found, question = as_json(ref("Measurement")), {"question": as_json(ref("Question"))}
    asked = {"question": {**question["question"], "needed": True}}
    piece = {"piece": TEXT | {"needed": True}}
    about = {"description": "At most 20 distances in mm, with commas between; else those of the ruler."}
    lines = {"lines_mm": TEXT | {"pattern": r"^[1-9]\d{0,2}(\.\d+)?(,[1-9]\d{0,2}(\.\d+)?){0,19}$"} | about}
    anything = as_json({"type": "object"})
    paths: Json = {
        "": {"get": operation("One measurement", found, 404), "delete": operation("Delete it", {}, 404, status=204)},
        "/again": {"post": operation("Measure its photo otherwise", found, 404, 422, query=_wish(choices), status=202)},
        "/scene": {"get": operation("The scene file", anything, 404)},
        "/table": {"get": operation("All that is drawn before a question", anything, 404)},
        "/photo": {"get": operation("The photo", _images(), 404, 422, query={"size": {"enum": ["shown", "full"]}})},
        "/ask": {
            "post": operation(
                "Rule on a question", as_json(ref("Ruling")), 404, 413, 422, body={**as_json(ref("Question"))}
            )
        },
        "/bands": {"get": operation("Range lines round a piece", _lines(), 404, 422, query=piece | lines)},
        "/arcs": {"get": operation("A ship's arcs", _lines(), 404, 422, query={"piece": TEXT | {"needed": True}})},
        "/picture": {"get": operation("The annotated photo", binary("image/png"), 404, 422, 500, 503, query=question)},
        "/bundle": {"get": operation("A dispute bundle", binary("application/zip"), 404, 422, query=asked)},
        "/fixes": {"put": _corrections(found)},
        "/link": {"get": operation("Its address and QR code, for other phones", anything, 404)},
    }
    inside = [{"name": "id", "in": "path", "required": True, "schema": TEXT}]
    return {ONE + path: {"parameters": inside, **operations} for path, operations in paths.items()}


def _corrections(found: Json) -> Json:
    said = operation("Correct what was found", found, 404, 412, 413, 422, 500, 503, body=as_json(ref("Fixes")))
    about = "The `version` of the table that was looked at, in quotes: corrections made meanwhile are not lost."
    return said | {"parameters": [{"name": "If-Match", "in": "header", "schema": TEXT, "description": about}]}


def _lines() -> Json:
    return as_json({"type": "array", "items": {"type": "object"}})


def binary(kind: str) -> Json:
    return _content(kind, {"type": "string", "format": "binary"})


def _images() -> Json:
    return {"content": {kind: {"schema": {}} for kind in ("image/jpeg", "image/png", "image/webp")}}
