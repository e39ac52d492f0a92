"""The route table of the live server: Starlette's routes and the OpenAPI document are made from it."""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from overruler.apps.web.endpoint import Endpoint, Parameter, openapi_of, starlette_routes
from overruler.apps.web.live import actions, pictures
from overruler.apps.web.live.action_table import ACTIONS
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

DESCRIPTION = (
    "Range lines and rulings over a camera's picture. Every action is a POST with its arguments in the address, as a "
    'Stream Deck sends it; `WS /api/live/air` tells the state whenever it changes. Every refusal is JSON: {"error": '
    "one line for people}."
)
"""Description of the API in its document."""

_TEXTS: Json = {"type": "array", "items": TEXT}
_OBJECTS: Json = {"type": "array", "items": {"type": "object"}}
_STATE_KEYS: Json = {
    "version": {"type": "integer", "description": "Another one whenever something has changed."},
    "size_px": {
        "type": "array",
        "items": {"type": "integer"},
        "description": "Of the camera's picture.",
    },
    "lost": {"type": ["string", "null"], "description": "Why there are no pictures."},
    "notes": _TEXTS | {"description": "What the caster should know."},
    "calibrated": {"type": "boolean", "description": "Whether the table has been measured."},
    "pieces": _OBJECTS | {"description": "Each with its state and outline."},
    "pair": {"type": ["array", "null"], "items": TEXT},
    "bands": _TEXTS,
    "arcs": _TEXTS,
    "grounds": _TEXTS,
    "shadows": _TEXTS,
    "questions": _OBJECTS | {"description": "What a pair can ask."},
    "waiting": _TEXTS | {"description": "Why something wanted is not on air."},
    "ruling": {"type": ["object", "null"]},
    "show": {"type": "object", "description": "Players, scores, the round and the caption."},
    "on_air": {"type": "boolean", "description": "Whether anything may be shown at all."},
}
_NEEDED_STATE_KEYS = "version size_px lost notes calibrated pieces waiting on_air"
STATE_SCHEMA: Json = {
    "type": "object",
    "required": _NEEDED_STATE_KEYS.split(),
    "properties": _STATE_KEYS,
}
"""Schema of the state."""

_STATE = json_content(schema_ref("State"))
_JPEG = binary_content("image/jpeg")

# --- parameters ---

_LAYER_PATTERN = "|".join(pictures.ALL_LAYERS)
_SHOW = Parameter(
    "show",
    {
        "type": "string",
        "pattern": f"^({_LAYER_PATTERN})(,({_LAYER_PATTERN}))*$",
        "description": f"Only these of {', '.join(pictures.ALL_LAYERS)}, with commas between.",
    },
)
_REACH_SCHEMA: Json = NUMBER | {"minimum": 0, "maximum": 1000}


def _width_parameter(most: int) -> Parameter:
    return Parameter(
        "width", {"type": "integer", "minimum": pictures.MIN_WIDTH_PX, "maximum": most}
    )


def _optional_parameter(name: str) -> Parameter:
    return Parameter(name, _REACH_SCHEMA if name == "reach_in" else TEXT)


# --- the table ---


def _action_endpoint(name: str) -> Endpoint:
    action = ACTIONS[name]
    required = [Parameter(key, TEXT, required=True) for key in action.required]
    optional = [_optional_parameter(key) for key in action.optional]
    return Endpoint(
        "POST",
        f"/api/live/do/{name}",
        actions.action_handler(name),
        action.summary,
        _STATE,
        (422,),
        (*required, *optional),
    )


async def get_openapi(request: Request) -> Response:
    return JSONResponse(openapi_document())


def openapi_document() -> Json:
    """The OpenAPI document of the live server."""
    schemas = {name: SCHEMAS[name] for name in ("Error", "Question", "Fixes")}
    return openapi_of("Overruler live", DESCRIPTION, ENDPOINTS, schemas | {"State": STATE_SCHEMA})


_PNG = binary_content("image/png")
_WEBM = binary_content("video/webm")
_PNG_WIDTH = _width_parameter(pictures.MAX_OVERLAY_WIDTH_PX)
_CLIP_WIDTH = _width_parameter(pictures.MAX_CLIP_WIDTH_PX)
_QUESTION = json_content(schema_ref("Question"))
_FIXES = json_content(schema_ref("Fixes"))
# fmt: off
_PICTURE_ENDPOINTS = (
    Endpoint("GET", "/overlay.png", pictures.get_overlay_png, "What is on air, with alpha",
             _PNG, (422,), (_SHOW, _PNG_WIDTH)),
    Endpoint("GET", "/overlay.webm", pictures.get_clip, "The ruling on air as a film with alpha",
             _WEBM, (422, 503), (_CLIP_WIDTH,)),
    Endpoint("GET", "/api/live/picture.jpg", pictures.get_picture, "The camera's picture",
             _JPEG, (404,)),
    Endpoint("GET", "/api/live/labels", pictures.get_labels,
             "Where labels of the pieces stand on a picture of some width", ANY_OBJECT, (422,), (_PNG_WIDTH,)),
    Endpoint("GET", "/api/live/frozen.jpg", pictures.get_frozen_picture, "The picture that is held",
             _JPEG, (404,)),
)
_PROGRAM_ENDPOINTS = (
    Endpoint("GET", "/api/live", actions.get_state, "The state", _STATE),
    Endpoint("GET", "/api/live/scene", actions.get_scene,
             "The scene file as the table last came to rest", ANY_OBJECT, (404,)),
    Endpoint("POST", "/api/live/ask", actions.post_question, "Rule on a question",
             ANY_OBJECT, (404, 408, 413, 422), body=_QUESTION),
    Endpoint("POST", "/api/live/fix", actions.post_fixes, "Correct what was found",
             _STATE, (408, 413, 422), body=_FIXES),
    Endpoint("GET", "/api/live/openapi.json", get_openapi, "This document", ANY_OBJECT),
)
# fmt: on
ENDPOINTS = (*_PICTURE_ENDPOINTS, *_PROGRAM_ENDPOINTS, *map(_action_endpoint, ACTIONS))
"""Every operation of the live server."""

routes = [
    *starlette_routes(ENDPOINTS),
    Route("/api/live/do/{name}", actions.refuse_unknown_action, methods=["POST"]),
]
"""The routes of the live server's API."""
