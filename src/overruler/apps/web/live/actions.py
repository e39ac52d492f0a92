"""What programs may ask of the live server, and what its buttons do: a Stream Deck's as well as the desk's own."""

import asyncio
import json
from typing import Any

from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from overruler.apps.web.faults import UploadRefused
from overruler.apps.web.live.action_table import ACTIONS
from overruler.apps.web.live.desk import Desk
from overruler.apps.web.live.watcher import TableWatcher
from overruler.errors import BadInput, UnknownName
from overruler.fixes import read_fixes
from overruler.reading import Node
from overruler.rules import ask

MAX_BODY_BYTES = 20_000
"""Bytes of a question, or of corrections."""


def get_desk(connection: HTTPConnection) -> Desk:
    desk: Desk = connection.app.state.desk
    return desk


async def get_state(request: Request) -> Response:
    desk = get_desk(request)
    return JSONResponse(json.loads(desk.state()[1]) | {"on_air": desk.is_on_air()})


async def get_scene(request: Request) -> Response:
    found = get_desk(request).scene()
    return JSONResponse(found.to_json()) if found is not None else _not_measured_response()


async def post_question(request: Request) -> Response:
    """A question of the table as it stands."""
    body, found = await _read_json(request, "question"), get_desk(request).scene()
    if found is None:
        return _not_measured_response()
    return JSONResponse((await asyncio.to_thread(ask, found, body)).to_json())


async def post_fixes(request: Request) -> Response:
    """Corrections of the table as it stands, as in a file: pieces moved, added, removed, named, in units."""
    fixes, eyes, desk = (
        read_fixes(await _read_json(request, "fix")),
        request.app.state.eyes,
        get_desk(request),
    )
    await asyncio.to_thread(TableWatcher.correct, eyes, fixes)
    await asyncio.to_thread(desk.apply_labels, fixes)
    return await get_state(request)


async def _read_json(request: Request, what: str) -> Node:
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MAX_BODY_BYTES:
            raise UploadRefused(f"longer than {MAX_BODY_BYTES} bytes", 413)
    return Node.of_json(body.decode(errors="replace"), what)


def _not_measured_response() -> Response:
    return JSONResponse({"error": "the table has not been measured yet"}, 404)


# --- buttons ---


async def post_action(request: Request) -> Response:
    """A button: `POST /api/live/do/pick?from=p01&to=p02`."""
    name = request.path_params["name"]
    if name not in ACTIONS:
        raise UnknownName("action", name, ACTIONS)
    button = ACTIONS[name]
    missing = [key for key in button.required if key not in request.query_params]
    if missing:
        raise BadInput(f"{name}: say {' and '.join(missing)} in the address, ?{missing[0]}=p01 say")
    told = [
        _parse_argument(key, request.query_params.get(key))
        for key in (*button.required, *button.optional)
    ]
    await asyncio.to_thread(button.act, get_desk(request), *told)
    return await get_state(request)


def _parse_argument(key: str, text: str | None) -> Any:
    if key != "reach_in" or text is None:
        return text
    try:
        reach = float(text)
    except ValueError:
        reach = -1.0
    return reach if 0 <= reach <= 1000 else Node(text, "reach_in").fail("is no number of inches")


async def get_openapi(request: Request) -> Response:
    from overruler.apps.web.live.openapi import openapi_document

    return JSONResponse(openapi_document())


routes = [
    Route("/api/live", get_state),
    Route("/api/live/scene", get_scene),
    Route("/api/live/ask", post_question, methods=["POST"]),
    Route("/api/live/fix", post_fixes, methods=["POST"]),
    Route("/api/live/do/{name}", post_action, methods=["POST"]),
    Route("/api/live/openapi.json", get_openapi),
]
