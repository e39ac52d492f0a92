"""What programs may ask of the live server, and what its buttons do: a Stream Deck's as well as the desk's own."""

import asyncio
import json
from typing import Any

from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from overruler.apps.web.faults import Refused
from overruler.apps.web.live.action_table import ACTIONS
from overruler.apps.web.live.desk import Desk
from overruler.apps.web.live.watcher import Eyes
from overruler.errors import BadInput, UnknownName
from overruler.fixes import read_fixes
from overruler.reading import Node
from overruler.rules import ask

LONGEST = 20_000
"""Bytes of a question, or of corrections."""


def desk_of(connection: HTTPConnection) -> Desk:
    desk: Desk = connection.app.state.desk
    return desk


async def state(request: Request) -> Response:
    desk = desk_of(request)
    return JSONResponse(json.loads(desk.state()[1]) | {"on_air": desk.on_air()})


async def scene(request: Request) -> Response:
    found = desk_of(request).scene()
    return JSONResponse(found.to_json()) if found is not None else _not_yet()


async def answer(request: Request) -> Response:
    """A question of the table as it stands."""
    body, found = await _body(request, "question"), desk_of(request).scene()
    if found is None:
        return _not_yet()
    return JSONResponse((await asyncio.to_thread(ask, found, body)).to_json())


async def fix(request: Request) -> Response:
    """Corrections of the table as it stands, as in a file: pieces moved, added, removed, named, in units."""
    fixes, eyes, desk = read_fixes(await _body(request, "fix")), request.app.state.eyes, desk_of(request)
    await asyncio.to_thread(Eyes.correct, eyes, fixes)
    await asyncio.to_thread(desk.label, fixes)
    return await state(request)


async def _body(request: Request, what: str) -> Node:
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > LONGEST:
            raise Refused(f"longer than {LONGEST} bytes", 413)
    return Node.of_json(body.decode(errors="replace"), what)


def _not_yet() -> Response:
    return JSONResponse({"error": "the table has not been measured yet"}, 404)


# --- buttons ---


async def action(request: Request) -> Response:
    """A button: `POST /api/live/do/pick?from=p01&to=p02`."""
    name = request.path_params["name"]
    if name not in ACTIONS:
        raise UnknownName("action", name, ACTIONS)
    button = ACTIONS[name]
    missing = [key for key in button.needs if key not in request.query_params]
    if missing:
        raise BadInput(f"{name}: say {' and '.join(missing)} in the address, ?{missing[0]}=p01 say")
    told = [_told(key, request.query_params.get(key)) for key in (*button.needs, *button.may)]
    await asyncio.to_thread(button.act, desk_of(request), *told)
    return await state(request)


def _told(key: str, text: str | None) -> Any:
    if key != "reach_in" or text is None:
        return text
    try:
        reach = float(text)
    except ValueError:
        reach = -1.0
    return reach if 0 <= reach <= 1000 else Node(text, "reach_in").fail("is no number of inches")


async def described(request: Request) -> Response:
    from overruler.apps.web.live.openapi import document

    return JSONResponse(document())


routes = [
    Route("/api/live", state),
    Route("/api/live/scene", scene),
    Route("/api/live/ask", answer, methods=["POST"]),
    Route("/api/live/fix", fix, methods=["POST"]),
    Route("/api/live/do/{name}", action, methods=["POST"]),
    Route("/api/live/openapi.json", described),
]
