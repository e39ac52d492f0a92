"""The route table of the HTTP API: Starlette's routes and the OpenAPI document are made from it."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from overruler.apps.web.endpoint import Endpoint, Handler, Parameter, openapi_of, starlette_routes
from overruler.apps.web.openapi_words import (
    ANY_OBJECT,
    NUMBER,
    SCHEMAS,
    TEXT,
    Json,
    binary_content,
    json_content,
    schema_ref,
)
from overruler.apps.web.phone import api, products
from overruler.apps.web.phone.api import MEASUREMENT_PATH, get_service
from overruler.apps.web.phone.request_options import BY_KNOWN_MARKERS, Choices
from overruler.apps.web.phone.several import handlers
from overruler.board import DICTIONARIES
from overruler.games import GAMES
from overruler.report import MAX_PHOTOS

DESCRIPTION = (
    "A photo of a miniatures table in, its scene and rulings out. Lengths are in the unit that a key ends in; places "
    'in a photo are pixels. Every refusal is JSON: {"error": one line for people}.'
)
"""Description of the API in its document."""

# --- parameters ---


def _text_parameter(name: str, pattern: str, description: str) -> Parameter:
    return Parameter(name, TEXT | {"pattern": f"^{pattern}$", "description": description})


_NUMBER_PATTERN = r"\d{1,4}(\.\d{1,3})?"
_POINT_PATTERN = f"{_NUMBER_PATTERN},{_NUMBER_PATTERN}={_NUMBER_PATTERN},{_NUMBER_PATTERN}"
_POINTS = _text_parameter(
    "points",
    f"{_POINT_PATTERN}(;{_POINT_PATTERN}){{3,}}",
    "Four places or more: u,v=x,y;u,v=x,y (a pixel = its place in mm).",
)
_MARKER_SIDE = "Side of the markers' black squares, where they may lie anywhere."
_MARKER_MM = Parameter(
    "marker_mm", NUMBER | {"minimum": 1, "maximum": 1000, "description": _MARKER_SIDE}
)
_FAMILY = "Family of the markers, with marker_mm."
_DICTIONARY = Parameter("dictionary", {"enum": ["auto", *DICTIONARIES], "description": _FAMILY})
_MARKERS = Parameter(
    "markers",
    {
        "enum": [BY_KNOWN_MARKERS],
        "description": "The photo's markers tell which of the tables it is.",
    },
)
_BASES = _text_parameter("bases", r"[1-9]\d?(,[1-9]\d?)*", "The bases to look for: 27,50 say.")
_PIECE = Parameter("piece", TEXT, required=True)
_LINES_MM = _text_parameter(
    "lines_mm",
    r"[1-9]\d{0,2}(\.\d+)?(,[1-9]\d{0,2}(\.\d+)?){0,19}",
    "At most 20 distances in mm, with commas between; else those of the ruler.",
)
_SIZE = Parameter("size", {"enum": ["shown", "full"]})
_PHOTO = Parameter(
    "photo",
    {"enum": [str(index) for index in range(MAX_PHOTOS)]},
    description="The photo to draw on: its index in `photos` of the table.",
)
_NUMBER = Parameter(
    "number",
    {"enum": [str(number + 1) for number in range(MAX_PHOTOS)]},
    description="The photo: its `number` in `photos` of the table.",
)
_QUESTION = Parameter("question", schema_ref("Question"), is_json=True)
_NEEDED_QUESTION = replace(_QUESTION, required=True)
_IF_MATCH = Parameter(
    "If-Match",
    TEXT,
    location="header",
    description="The `version` of the table that was looked at, in quotes: corrections made meanwhile are not lost.",
)


def _photo_parameters(choices: Choices) -> tuple[Parameter, ...]:
    """How to measure a photo. One of table, marker_mm, points and markers is needed, which no schema can say."""
    table = _choice_parameter("table", "A board by its name", "tables", choices.boards)
    lens = _choice_parameter("lens", "A lens by its name", "lenses", choices.lenses)
    game = Parameter("game", {"enum": list(GAMES)})
    return game, table, _MARKER_MM, _DICTIONARY, _POINTS, _MARKERS, _BASES, lens


def _choice_parameter(name: str, what: str, key: str, known: Iterable[str]) -> Parameter:
    schema = TEXT | {"description": f"{what}: one of `{key}` of /api/about."}
    names = list(known)
    return Parameter(name, schema | {"enum": names} if names else schema)


# --- bodies and answers ---

_MEASUREMENT = json_content(schema_ref("Measurement"))
_MEASUREMENTS = json_content({"type": "array", "items": schema_ref("Measurement")})
_RULING = json_content(schema_ref("Ruling"))
_LINES = json_content({"type": "array", "items": {"type": "object"}})
_PNG = binary_content("image/png")
_ZIP = binary_content("application/zip")
_IMAGE_TYPES = ("image/jpeg", "image/png", "image/webp")
_IMAGE: Json = {"content": {media_type: {"schema": {}} for media_type in _IMAGE_TYPES}}
_PHOTO_BODY = binary_content("application/octet-stream")
_QUESTION_BODY = json_content(schema_ref("Question"))
_FIXES_BODY = json_content(schema_ref("Fixes"))

# --- the table ---


def endpoints(choices: Choices) -> tuple[Endpoint, ...]:
    """Every operation of the API; `choices` are the boards and lenses that may be named."""
    return (*_SERVER_ENDPOINTS, *_upload_endpoints(choices), *_MEASUREMENT_ENDPOINTS)


async def get_openapi(request: Request) -> Response:
    return JSONResponse(openapi_document(get_service(request).choices))


def openapi_document(choices: Choices | None = None) -> Json:
    """The OpenAPI document of the API."""
    return openapi_of("Overruler", DESCRIPTION, endpoints(choices or Choices()), SCHEMAS)


def _operation(
    method: str,
    suffix: str,
    handler: Handler,
    summary: str,
    response: Json,
    *refusals: int,
    **others: Any,
) -> Endpoint:
    """An operation on one measurement, which is refused with 404 if there is none."""
    path = f"{MEASUREMENT_PATH}{suffix}"
    return Endpoint(method, path, handler, summary, response, (404, *refusals), **others)


_LIST = "/api/measurements"
_SERVER_ENDPOINTS = (
    Endpoint("GET", "/api/about", api.get_about, "What the server knows", ANY_OBJECT),
    Endpoint("GET", "/api/health", api.get_health, "Whether it can work now", ANY_OBJECT, (503,)),
    Endpoint("GET", "/api/openapi.json", get_openapi, "This document", ANY_OBJECT),
    Endpoint("GET", _LIST, api.list_newest, "The newest measurements", _MEASUREMENTS),
)


def _upload_endpoints(choices: Choices) -> tuple[Endpoint, ...]:
    options: dict[str, Any] = {"parameters": _photo_parameters(choices), "status": 202}
    refusals = (408, 413, 415, 422, 503)
    send = Endpoint(
        "POST", _LIST, api.post_photo, "Measure a photo", _MEASUREMENT, refusals, body=_PHOTO_BODY
    )
    again = _operation(
        "POST", "/again", api.post_again, "Measure its photo otherwise", _MEASUREMENT, 422, 503
    )
    add = _operation(
        "POST", "/photos", handlers.post_added_photo, "Measure the table with a photo more",
        _MEASUREMENT, *refusals, 409, status=202, body=_PHOTO_BODY,
    )  # fmt: skip
    return replace(send, **options), replace(again, **options), add


# fmt: off
_MEASUREMENT_ENDPOINTS = (
    _operation("GET", "", api.get_measurement, "One measurement", _MEASUREMENT),
    _operation("DELETE", "", api.delete_measurement, "Delete it", {}, status=204),
    _operation("DELETE", "/photos", handlers.delete_added_photo, "Take out the photo added last",
               _MEASUREMENT, 409),
    _operation("GET", "/scene", api.get_scene, "The scene file", ANY_OBJECT),
    _operation("GET", "/table", api.get_table, "All that is drawn before a question", ANY_OBJECT,
               422, parameters=(_PHOTO,)),
    _operation("GET", "/photo", api.get_photo, "The photo", _IMAGE, 422, parameters=(_SIZE, _NUMBER)),
    _operation("POST", "/ask", api.post_question, "Rule on a question", _RULING, 408, 413, 422,
               parameters=(_PHOTO,), body=_QUESTION_BODY),
    _operation("GET", "/advice", products.get_advice, "From where another photo would help", ANY_OBJECT,
               422, 503, parameters=(_NEEDED_QUESTION,)),
    _operation("GET", "/bands", api.get_bands, "Range lines round a piece", _LINES, 422,
               parameters=(_PIECE, _LINES_MM, _PHOTO)),
    _operation("GET", "/arcs", api.get_arcs, "A ship's arcs", _LINES, 422, parameters=(_PIECE, _PHOTO)),
    _operation("GET", "/picture", products.get_picture, "The annotated photo", _PNG, 422, 500, 503,
               parameters=(_QUESTION,)),
    _operation("GET", "/bundle", products.get_bundle, "A dispute bundle", _ZIP, 422,
               parameters=(_NEEDED_QUESTION,)),
    _operation("PUT", "/fixes", api.put_fixes, "Correct what was found", _MEASUREMENT,
               408, 409, 412, 413, 422, 500, 503, parameters=(_IF_MATCH,), body=_FIXES_BODY),
    _operation("GET", "/link", api.get_link, "Its address and QR code, for other phones", ANY_OBJECT),
)
# fmt: on

routes = starlette_routes(endpoints(Choices()))
"""The routes of the API."""
