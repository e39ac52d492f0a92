"""The live server: the overlay that goes on air, and the control page that decides it."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from overruler.apps.web.faults import EXCEPTION_HANDLERS
from overruler.apps.web.guard import AccessPolicy
from overruler.apps.web.live import endpoints
from overruler.apps.web.live.actions import get_desk
from overruler.apps.web.live.desk import Desk
from overruler.apps.web.live.names_file import Kept, keep_names
from overruler.apps.web.live.overlay_key import LiveGuard
from overruler.apps.web.live.watcher import TableWatcher
from overruler.apps.web.sockets import send_until_closed
from overruler.apps.web.static_files import file_response, get_static_file

POLL_INTERVAL_S = 0.03
"""Time between two looks at the state for each socket."""
HEARTBEAT_S = 0.25
"""Time between two messages which tell a page that the server lives."""
SEND_TIMEOUT_S = 5.0
"""A page that does not read for longer is disconnected."""


@dataclass(frozen=True, slots=True)
class LiveServices:
    """The parts of the live application."""

    desk: Desk
    watcher: TableWatcher
    access_policy: AccessPolicy
    overlay_key: str | None = None
    """A key that opens the overlay only."""
    names: tuple[Path, Kept] | None = None
    """The file that keeps the names, and what it held at the start."""


def make_live_app(services: LiveServices) -> Starlette:
    """Make the application; the watcher runs as long as its lifespan."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        app.state.desk = services.desk
        app.state.watcher = services.watcher
        app.state.clip_lock = asyncio.Lock()
        services.watcher.start()
        keeping = asyncio.create_task(_keep_names(services))
        try:
            yield
        finally:
            keeping.cancel()
            await asyncio.to_thread(services.watcher.stop)

    guard = Middleware(LiveGuard, policy=services.access_policy, overlay_key=services.overlay_key)
    return Starlette(
        routes=routes, lifespan=lifespan, middleware=[guard], exception_handlers=EXCEPTION_HANDLERS
    )


async def _keep_names(services: LiveServices) -> None:
    if services.names is not None:
        path, kept = services.names
        await keep_names(path, kept, services.desk, services.watcher)


# --- pages ---


async def get_overlay_page(request: Request) -> Response:
    return file_response(request, "overlay.html")


async def get_control_page(request: Request) -> Response:
    return file_response(request, "control.html")


# --- the socket ---


async def stream_state(socket: WebSocket) -> None:
    """Send the whole state whenever it changes, and a heartbeat in between."""
    await socket.accept()
    await send_until_closed(socket, _send_state(socket, get_desk(socket)))


async def _send_state(socket: WebSocket, desk: Desk) -> None:
    clock = asyncio.get_running_loop().time
    sent = (-1, False)
    next_beat_s = 0.0
    while True:
        version, text = desk.state()
        on_air = desk.is_on_air()
        if version != sent[0]:
            await _send_text(socket, text)
        if (version, on_air) != sent or clock() >= next_beat_s:
            await _send_text(socket, json.dumps({"beat": version, "on_air": on_air}))
            sent = (version, on_air)
            next_beat_s = clock() + HEARTBEAT_S
        await asyncio.sleep(POLL_INTERVAL_S)


async def _send_text(socket: WebSocket, text: str) -> None:
    await asyncio.wait_for(socket.send_text(text), SEND_TIMEOUT_S)


routes = [
    Route("/", get_control_page),
    Route("/control", get_control_page),
    Route("/overlay", get_overlay_page),
    Route("/static/{name}", get_static_file),
    WebSocketRoute("/api/live/air", stream_state),
    *endpoints.routes,
]
"""Every route of the application."""
