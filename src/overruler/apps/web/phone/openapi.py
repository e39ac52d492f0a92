"""The OpenAPI document of the HTTP API, written by hand: what a program may ask, and what it gets."""

from overruler import __version__
from overruler.apps.web.openapi_words import (
    SCHEMAS,
    TEXT,
    Json,
    binary_content,
    json_content,
    operation,
    schema_ref,
)
from overruler.apps.web.phone.request_options import Choices
from overruler.board import DICTIONARIES
from overruler.games import GAMES

MEASUREMENT_PATH = "/api/measurements/{id}"


def openapi_document(choices: Choices | None = None) -> Json:
    """The whole document; `choices` are the boards and lenses that may be named."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "Overruler", "version": __version__, "description": _ABOUT},
        "paths": {
            **_server_paths(),
            **_collection_paths(choices or Choices()),
            **_measurement_paths(choices or Choices()),
        },
        "components": {
            "schemas": SCHEMAS,
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


_ABOUT = (
    "A photo of a miniatures table in, its scene and rulings out. Lengths are in the unit that a key ends in; places "
    'in a photo are pixels. Every refusal is JSON: {"error": one line for people}.'
)


_NUMBER_PATTERN = r"\d{1,4}(\.\d{1,3})?"
_PLACE_PATTERN = f"{_NUMBER_PATTERN},{_NUMBER_PATTERN}={_NUMBER_PATTERN},{_NUMBER_PATTERN}"


def _photo_options(choices: Choices) -> Json:
    """How a photo is to be measured; exactly one of table, marker_mm and points is needed, which no schema can say."""
    table = TEXT | {"description": "A board by its name: one of `tables` of /api/about."}
    lens = TEXT | {"description": "A lens by its name: one of `lenses` of /api/about."}
    side = {"description": "Side of the markers' black squares, where they may lie anywhere."}
    places = {"description": "Four places or more: u,v=x,y;u,v=x,y (a pixel = its place in mm)."}
    return {
        "game": {"enum": list(GAMES)},
        "table": table | ({"enum": list(choices.boards)} if choices.boards else {}),
        "marker_mm": {"type": "number", "minimum": 1, "maximum": 1000} | side,
        "dictionary": {
            "enum": ["auto", *DICTIONARIES],
            "description": "Family of the markers, with marker_mm.",
        },
        "points": TEXT | {"pattern": f"^{_PLACE_PATTERN}(;{_PLACE_PATTERN}){{3,}}$"} | places,
        "bases": TEXT
        | {
            "pattern": r"^[1-9]\d?(,[1-9]\d?)*$",
            "description": "The bases to look for: 27,50 say.",
        },
        "lens": lens | ({"enum": list(choices.lenses)} if choices.lenses else {}),
    }


def _server_paths() -> Json:
    return {
        "/api/about": {"get": operation("What the server knows", json_content({"type": "object"}))},
        "/api/openapi.json": {"get": operation("This document", json_content({"type": "object"}))},
    }


def _collection_paths(choices: Choices) -> Json:
    photo = {
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
    }
    found = json_content(schema_ref("Measurement"))
    send = operation(
        "Measure a photo",
        found,
        413,
        415,
        422,
        503,
        query=_photo_options(choices),
        body=photo,
        status=202,
    )
    newest = operation(
        "The newest measurements",
        json_content({"type": "array", "items": schema_ref("Measurement")}),
    )
    return {"/api/measurements": {"get": newest, "post": send}}


def _measurement_paths(choices: Choices) -> Json:
    found, question = (
        json_content(schema_ref("Measurement")),
        {"question": json_content(schema_ref("Question"))},
    )
    asked = {"question": {**question["question"], "needed": True}}
    piece = {"piece": TEXT | {"needed": True}}
    about = {
        "description": "At most 20 distances in mm, with commas between; else those of the ruler."
    }
    lines = {
        "lines_mm": TEXT
        | {"pattern": r"^[1-9]\d{0,2}(\.\d+)?(,[1-9]\d{0,2}(\.\d+)?){0,19}$"}
        | about
    }
    anything = json_content({"type": "object"})
    paths: Json = {
        "": {
            "get": operation("One measurement", found, 404),
            "delete": operation("Delete it", {}, 404, status=204),
        },
        "/again": {
            "post": operation(
                "Measure its photo otherwise",
                found,
                404,
                422,
                query=_photo_options(choices),
                status=202,
            )
        },
        "/scene": {"get": operation("The scene file", anything, 404)},
        "/table": {"get": operation("All that is drawn before a question", anything, 404)},
        "/photo": {
            "get": operation(
                "The photo", _image_content(), 404, 422, query={"size": {"enum": ["shown", "full"]}}
            )
        },
        "/ask": {
            "post": operation(
                "Rule on a question",
                json_content(schema_ref("Ruling")),
                404,
                413,
                422,
                body={**json_content(schema_ref("Question"))},
            )
        },
        "/bands": {
            "get": operation(
                "Range lines round a piece", _lines_content(), 404, 422, query=piece | lines
            )
        },
        "/arcs": {
            "get": operation(
                "A ship's arcs",
                _lines_content(),
                404,
                422,
                query={"piece": TEXT | {"needed": True}},
            )
        },
        "/picture": {
            "get": operation(
                "The annotated photo",
                binary_content("image/png"),
                404,
                422,
                500,
                503,
                query=question,
            )
        },
        "/bundle": {
            "get": operation(
                "A dispute bundle", binary_content("application/zip"), 404, 422, query=asked
            )
        },
        "/fixes": {"put": _fixes_operation(found)},
        "/link": {"get": operation("Its address and QR code, for other phones", anything, 404)},
    }
    inside = [{"name": "id", "in": "path", "required": True, "schema": TEXT}]
    return {
        MEASUREMENT_PATH + path: {"parameters": inside, **operations}
        for path, operations in paths.items()
    }


def _fixes_operation(found: Json) -> Json:
    said = operation(
        "Correct what was found",
        found,
        404,
        412,
        413,
        422,
        500,
        503,
        body=json_content(schema_ref("Fixes")),
    )
    about = "The `version` of the table that was looked at, in quotes: corrections made meanwhile are not lost."
    return said | {
        "parameters": [{"name": "If-Match", "in": "header", "schema": TEXT, "description": about}]
    }


def _lines_content() -> Json:
    return json_content({"type": "array", "items": {"type": "object"}})


def _image_content() -> Json:
    return {"content": {kind: {"schema": {}} for kind in ("image/jpeg", "image/png", "image/webp")}}
