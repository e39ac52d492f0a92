"""HTTP handlers for programs and buttons: the desk's own and a Stream Deck's."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, Response

from overruler.apps.web.live.action_table import ACTIONS
from overruler.apps.web.live.desk import Desk
from overruler.apps.web.live.watcher import TableWatcher
from overruler.apps.web.request_body import read_text
from overruler.errors import BadInput, UnknownName
from overruler.fixes import read_fixes
from overruler.reading import Node
from overruler.rules import ask
from overruler.scene import Scene

MAX_BODY_BYTES = 20_000
"""Longest body of a question or of corrections."""
MAX_REACH_IN = 1000.0
"""Largest distance that a question may name, in inches."""


def get_desk(connection: HTTPConnection) -> Desk:
    desk: Desk = connection.app.state.desk
    return desk


async def get_state(request: Request) -> Response:
    desk = get_desk(request)
    _, text = desk.state()
    return JSONResponse(json.loads(text) | {"on_air": desk.is_on_air()})


async def get_scene(request: Request) -> Response:
    return JSONResponse(_measured_scene(request).to_json())


async def post_question(request: Request) -> Response:
    """Rule on a question about the table as it stands."""
    question = Node.of_json(await read_text(request, MAX_BODY_BYTES), "question")
    verdict = await asyncio.to_thread(ask, _measured_scene(request), question)
    return JSONResponse(verdict.to_json())


async def post_fixes(request: Request) -> Response:
    """Correct the table as it stands, as a fix file does: pieces moved, added, removed, named, in units."""
    fixes = read_fixes(Node.of_json(await read_text(request, MAX_BODY_BYTES), "fix"))
    watcher: TableWatcher = request.app.state.watcher
    await asyncio.to_thread(watcher.correct, fixes)
    await asyncio.to_thread(get_desk(request).apply_labels, fixes)
    return await get_state(request)


def _measured_scene(request: Request) -> Scene:
    scene = get_desk(request).scene()
    if scene is None:
        raise HTTPException(404, "the table has not been measured yet")
    return scene


# --- buttons ---


def action_handler(name: str) -> Callable[[Request], Awaitable[Response]]:
    """Make the handler of one action: `POST /api/live/do/pick?from=p01&to=p02`."""
    action = ACTIONS[name]

    async def post_action(request: Request) -> Response:
        query = request.query_params
        missing = [key for key in action.required if key not in query]
        if missing:
            keys = " and ".join(missing)
            raise BadInput(f"{name}: say {keys} in the address, ?{missing[0]}=p01 say")
        keys_in_order = (*action.required, *action.optional)
        arguments = [_parse_argument(key, query.get(key)) for key in keys_in_order]
        await asyncio.to_thread(action.perform, get_desk(request), *arguments)
        return await get_state(request)

    return post_action


async def refuse_unknown_action(request: Request) -> Response:
    raise UnknownName("action", request.path_params["name"], ACTIONS)


def _parse_argument(key: str, text: str | None) -> Any:
    if key != "reach_in" or text is None:
        return text
    try:
        reach_in = float(text)
    except ValueError:
        reach_in = -1.0
    if not 0 <= reach_in <= MAX_REACH_IN:
        Node(text, "reach_in").fail("is no number of inches")
    return reach_in
