"""The route table of the HTTP API: Starlette's routes and the OpenAPI document are made from it."""

from collections.abc import Iterable

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from overruler.apps.web.endpoint import Endpoint, Parameter, openapi_of, starlette_routes
from overruler.apps.web.openapi_words import (
    ANY_OBJECT,
    SCHEMAS,
    TEXT,
    Json,
    binary_content,
    json_content,
    schema_ref,
)
from overruler.apps.web.phone import api
from overruler.apps.web.phone.api import MEASUREMENT_PATH, get_service
from overruler.apps.web.phone.request_options import Choices
from overruler.board import DICTIONARIES
from overruler.scene import GAMES

DESCRIPTION = (
    "A photo of a miniatures table in, its scene and rulings out. Lengths are in the unit that a key ends in; places "
    'in a photo are pixels. Every refusal is JSON: {"error": one line for people}.'
)
"""Description of the API in its document."""

# --- parameters ---

_NUMBER_PATTERN = r"\d{1,4}(\.\d{1,3})?"
_POINT_PATTERN = f"{_NUMBER_PATTERN},{_NUMBER_PATTERN}={_NUMBER_PATTERN},{_NUMBER_PATTERN}"
_POINTS = Parameter(
    "points",
    {
        "type": "string",
        "pattern": f"^{_POINT_PATTERN}(;{_POINT_PATTERN}){{3,}}$",
        "description": "Four places or more: u,v=x,y;u,v=x,y (a pixel = its place in mm).",
    },
)
_MARKER_MM = Parameter(
    "marker_mm",
    {
        "type": "number",
        "minimum": 1,
        "maximum": 1000,
        "description": "Side of the markers' black squares, where they may lie anywhere.",
    },
)
_DICTIONARY = Parameter(
    "dictionary",
    {
        "enum": ["auto", *DICTIONARIES],
        "description": "Family of the markers, with marker_mm.",
    },
)
_BASES = Parameter(
    "bases",
    {
        "type": "string",
        "pattern": r"^[1-9]\d?(,[1-9]\d?)*$",
        "description": "The bases to look for: 27,50 say.",
    },
)
_PIECE = Parameter("piece", TEXT, required=True)
_LINES_MM = Parameter(
    "lines_mm",
    {
        "type": "string",
        "pattern": r"^[1-9]\d{0,2}(\.\d+)?(,[1-9]\d{0,2}(\.\d+)?){0,19}$",
        "description": "At most 20 distances in mm, with commas between; else those of the ruler.",
    },
)
_QUESTION = Parameter("question", schema_ref("Question"), is_json=True)
_NEEDED_QUESTION = Parameter("question", schema_ref("Question"), required=True, is_json=True)
_IF_MATCH = Parameter(
    "If-Match",
    TEXT,
    location="header",
    description="The `version` of the table that was looked at, in quotes: corrections made meanwhile are not lost.",
)


def _photo_parameters(choices: Choices) -> tuple[Parameter, ...]:
    """How to measure a photo. Exactly one of table, marker_mm and points is needed, which no schema can say."""
    return (
        Parameter("game", {"enum": list(GAMES)}),
        _choice_parameter(
            "table", "A board by its name: one of `tables` of /api/about.", choices.boards
        ),
        _MARKER_MM,
        _DICTIONARY,
        _POINTS,
        _BASES,
        _choice_parameter(
            "lens", "A lens by its name: one of `lenses` of /api/about.", choices.lenses
        ),
    )


def _choice_parameter(name: str, description: str, known: Iterable[str]) -> Parameter:
    schema: Json = {**TEXT, "description": description}
    names = list(known)
    return Parameter(name, schema | {"enum": names} if names else schema)


# --- bodies and answers ---

_MEASUREMENT = json_content(schema_ref("Measurement"))
_MEASUREMENTS = json_content({"type": "array", "items": schema_ref("Measurement")})
_LINES = json_content({"type": "array", "items": {"type": "object"}})
_PHOTO = binary_content("application/octet-stream")
_IMAGE: Json = {
    "content": {kind: {"schema": {}} for kind in ("image/jpeg", "image/png", "image/webp")}
}

# --- the table ---


def endpoints(choices: Choices) -> tuple[Endpoint, ...]:
    """Every operation of the API; `choices` are the boards and lenses that may be named."""
    return (
        *_SERVER_ENDPOINTS,
        *_upload_endpoints(choices),
        *_MEASUREMENT_ENDPOINTS,
        *_RULING_ENDPOINTS,
    )


async def get_openapi(request: Request) -> Response:
    return JSONResponse(openapi_document(get_service(request).choices))


def openapi_document(choices: Choices | None = None) -> Json:
    """The OpenAPI document of the API."""
    return openapi_of("Overruler", DESCRIPTION, endpoints(choices or Choices()), SCHEMAS)


_SERVER_ENDPOINTS = (
    Endpoint("GET", "/api/about", api.get_about, "What the server knows", ANY_OBJECT),
    Endpoint("GET", "/api/openapi.json", get_openapi, "This document", ANY_OBJECT),
)


def _upload_endpoints(choices: Choices) -> tuple[Endpoint, ...]:
    parameters = _photo_parameters(choices)
    return (
        Endpoint(
            "POST",
            "/api/measurements",
            api.post_photo,
            "Measure a photo",
            _MEASUREMENT,
            refusals=(413, 415, 422, 503),
            parameters=parameters,
            body=_PHOTO,
            status=202,
        ),
        Endpoint(
            "POST",
            f"{MEASUREMENT_PATH}/again",
            api.post_again,
            "Measure its photo otherwise",
            _MEASUREMENT,
            refusals=(404, 422),
            parameters=parameters,
            status=202,
        ),
    )


_MEASUREMENT_ENDPOINTS = (
    Endpoint("GET", "/api/measurements", api.list_newest, "The newest measurements", _MEASUREMENTS),
    Endpoint("GET", MEASUREMENT_PATH, api.get_measurement, "One measurement", _MEASUREMENT, (404,)),
    Endpoint(
        "DELETE", MEASUREMENT_PATH, api.delete_measurement, "Delete it", {}, (404,), status=204
    ),
    Endpoint(
        "GET", f"{MEASUREMENT_PATH}/scene", api.get_scene, "The scene file", ANY_OBJECT, (404,)
    ),
    Endpoint(
        "GET",
        f"{MEASUREMENT_PATH}/table",
        api.get_table,
        "All that is drawn before a question",
        ANY_OBJECT,
        (404,),
    ),
    Endpoint(
        "GET",
        f"{MEASUREMENT_PATH}/photo",
        api.get_photo,
        "The photo",
        _IMAGE,
        (404, 422),
        (Parameter("size", {"enum": ["shown", "full"]}),),
    ),
    Endpoint(
        "PUT",
        f"{MEASUREMENT_PATH}/fixes",
        api.put_fixes,
        "Correct what was found",
        _MEASUREMENT,
        (404, 412, 413, 422, 500, 503),
        (_IF_MATCH,),
        body=json_content(schema_ref("Fixes")),
    ),
    Endpoint(
        "GET",
        f"{MEASUREMENT_PATH}/link",
        api.get_link,
        "Its address and QR code, for other phones",
        ANY_OBJECT,
        (404,),
    ),
)

_RULING_ENDPOINTS = (
    Endpoint(
        "POST",
        f"{MEASUREMENT_PATH}/ask",
        api.post_question,
        "Rule on a question",
        json_content(schema_ref("Ruling")),
        (404, 413, 422),
        body=json_content(schema_ref("Question")),
    ),
    Endpoint(
        "GET",
        f"{MEASUREMENT_PATH}/bands",
        api.get_bands,
        "Range lines round a piece",
        _LINES,
        (404, 422),
        (_PIECE, _LINES_MM),
    ),
    Endpoint(
        "GET",
        f"{MEASUREMENT_PATH}/arcs",
        api.get_arcs,
        "A ship's arcs",
        _LINES,
        (404, 422),
        (_PIECE,),
    ),
    Endpoint(
        "GET",
        f"{MEASUREMENT_PATH}/picture",
        api.get_picture,
        "The annotated photo",
        binary_content("image/png"),
        (404, 422, 500, 503),
        (_QUESTION,),
    ),
    Endpoint(
        "GET",
        f"{MEASUREMENT_PATH}/bundle",
        api.get_bundle,
        "A dispute bundle",
        binary_content("application/zip"),
        (404, 422),
        (_NEEDED_QUESTION,),
    ),
)

routes = starlette_routes(endpoints(Choices()))
"""The routes of the API."""
