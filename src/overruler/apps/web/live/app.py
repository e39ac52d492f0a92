"""The live server: what goes on air, and the desk that decides it."""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import lru_cache

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from overruler.apps.web.faults import EXCEPTION_HANDLERS, ServerBusy
from overruler.apps.web.guard import AccessPolicy
from overruler.apps.web.live.actions import get_desk
from overruler.apps.web.live.actions import routes as programs
from overruler.apps.web.live.desk import Desk
from overruler.apps.web.live.graphics import LAYERS, svg_document
from overruler.apps.web.live.overlay_key import LiveGuard
from overruler.apps.web.live.watcher import TableWatcher
from overruler.apps.web.static_files import file_response, get_static_file
from overruler.errors import BadInput, UnknownName

POLL_INTERVAL_S, HEARTBEAT_S = 0.03, 0.25
"""How often a page's socket looks for news, and how often it is told that the server lives."""
SEND_TIMEOUT_S = 5.0
"""A page that does not read for so long is left alone."""


@dataclass(frozen=True, slots=True)
class LiveServices:
    """What the live application is made of."""

    desk: Desk
    watcher: TableWatcher
    access_policy: AccessPolicy
    overlay_key: str | None = None


def make_live_app(air: LiveServices) -> Starlette:
    """The application; the eyes open and close with its lifespan."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        app.state.desk, app.state.eyes, app.state.filming = air.desk, air.watcher, asyncio.Lock()
        air.watcher.start()
        try:
            yield
        finally:
            await asyncio.to_thread(air.watcher.stop)

    guard = Middleware(LiveGuard, door=air.access_policy, overlay_key=air.overlay_key)
    return Starlette(
        routes=routes, lifespan=lifespan, middleware=[guard], exception_handlers=EXCEPTION_HANDLERS
    )


# --- on air ---


async def get_overlay_page(request: Request) -> Response:
    return file_response(request, "overlay.html")


async def get_control_page(request: Request) -> Response:
    return file_response(request, "control.html")


async def stream_state(socket: WebSocket) -> None:
    """All of the state whenever it changes, and a beat in between; what a page says is not heard."""
    await socket.accept()
    tasks = {
        asyncio.create_task(_wait_for_close(socket)),
        asyncio.create_task(_send_state(socket, get_desk(socket))),
    }
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _send_state(socket: WebSocket, desk: Desk) -> None:
    told, due, clock = (-1, False), 0.0, asyncio.get_running_loop().time
    while True:
        (version, text), on_air = desk.state(), desk.is_on_air()
        if version != told[0]:
            await asyncio.wait_for(socket.send_text(text), SEND_TIMEOUT_S)
        if (version, on_air) != told or clock() >= due:
            beat = json.dumps({"beat": version, "on_air": on_air})
            await asyncio.wait_for(socket.send_text(beat), SEND_TIMEOUT_S)
            told, due = (version, on_air), clock() + HEARTBEAT_S
        await asyncio.sleep(POLL_INTERVAL_S)


async def _wait_for_close(socket: WebSocket) -> None:
    try:
        while True:
            await socket.receive()
            if socket.client_state.name == "DISCONNECTED":
                return
    except (WebSocketDisconnect, RuntimeError, KeyError):
        return


async def get_overlay_png(request: Request) -> Response:
    """What is on air as a PNG with alpha: for programs that cannot show a page."""
    desk = get_desk(request)
    wide = _requested_width(request)
    shown = _requested_layers(request)
    drawn = svg_document(
        [text for name, text in desk.graphics_on_air().layers.items() if name in shown],
        desk.size_px,
    )
    tag = f'"{hashlib.sha256(f"{wide} {drawn}".encode()).hexdigest()[:20]}"'
    if (
        request.headers.get("if-none-match") == tag
    ):  # who asks ten times a second must not cost ten drawings
        return Response(status_code=304, headers={"etag": tag})
    return Response(
        await asyncio.to_thread(_render_png, drawn, wide),
        media_type="image/png",
        headers={"etag": tag},
    )


@lru_cache(maxsize=4)
def _render_png(drawn: str, wide: int) -> bytes:
    from overruler.picture.raster import render_png

    return render_png(drawn, wide)


def _requested_layers(request: Request) -> set[str]:
    asked = [name for name in request.query_params.get("show", ",".join(LAYERS)).split(",") if name]
    for name in asked:
        if name not in LAYERS:
            raise UnknownName("show", name, LAYERS)
    return set(asked)


def _requested_width(request: Request, usual: int = 1920, most: int = 3840) -> int:
    text = request.query_params.get("width", str(usual))
    if not text.isdecimal() or len(text) > 4 or not 16 <= int(text) <= most:
        raise BadInput(f"width: a whole number from 16 to {most}")
    return int(text)


async def get_frozen_picture(request: Request) -> Response:
    return _jpeg_response(get_desk(request).frozen_jpeg())


async def get_picture(request: Request) -> Response:
    """The camera's newest picture."""
    return _jpeg_response(await asyncio.to_thread(get_desk(request).newest_jpeg))


def _jpeg_response(data: bytes | None) -> Response:
    if data is None:
        return JSONResponse({"error": "there is no such picture now"}, 404)
    return Response(data, media_type="image/jpeg")


async def get_clip(request: Request) -> Response:
    """The ruling on air as a film with alpha, for replays: one at a time, for the camera is looked at meanwhile."""
    from overruler.apps.web.live.clip import render_clip

    desk, wide, filming = (
        get_desk(request),
        _requested_width(request, usual=1280, most=1920),
        request.app.state.filming,
    )
    if filming.locked():
        raise ServerBusy("another clip is being made: ask again in a few seconds")
    async with filming:
        return Response(
            await asyncio.to_thread(render_clip, desk.graphics_on_air(), desk.size_px, wide),
            media_type="video/webm",
        )


routes = [
    Route("/", get_control_page),
    Route("/control", get_control_page),
    Route("/overlay", get_overlay_page),
    Route("/overlay.png", get_overlay_png),
    Route("/overlay.webm", get_clip),
    Route("/static/{name}", get_static_file),
    WebSocketRoute("/api/live/air", stream_state),
    Route("/api/live/frozen.jpg", get_frozen_picture),
    Route("/api/live/picture.jpg", get_picture),
    *programs,
]
