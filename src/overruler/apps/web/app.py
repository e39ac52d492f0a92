"""The application, put together: routers are flat files, and the guard stands before them all."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute

from overruler.apps.web import api, pages, watch
from overruler.apps.web.clerk import Changed, Clerk, NotThere
from overruler.apps.web.guard import Door, Guard
from overruler.apps.web.jobs import Busy, Failed, Workers
from overruler.apps.web.photos import MOST_BYTES, Refused
from overruler.apps.web.store import Store
from overruler.apps.web.wishes import Choices, usual_boards
from overruler.errors import OverrulerError

SWEEP_S = 3600.0


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything the server is told when it starts."""

    store: Path
    door: Door
    url: str = "http://localhost/"
    """Where others find it, without the key."""
    choices: Choices = field(default_factory=lambda: Choices(usual_boards()))
    keep_days: float = 30.0
    processes: int = 1
    most_bytes: int = MOST_BYTES


ROUTES: Sequence[BaseRoute] = (*pages.routes, *api.routes, *watch.routes)


def make_app(settings: Settings) -> Starlette:
    """The server's application; its processes start and end with its lifespan."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        store, workers = Store(settings.store), Workers(settings.processes)
        app.state.clerk = Clerk(store, workers, settings.choices, settings.most_bytes)
        app.state.keep_days, app.state.door, app.state.url = settings.keep_days, settings.door, settings.url
        await workers.start()
        sweeping = asyncio.create_task(_sweep(store, settings.keep_days))
        try:
            yield
        finally:
            sweeping.cancel()
            await workers.stop()
            store.close()

    return Starlette(
        routes=ROUTES,
        lifespan=lifespan,
        middleware=[Middleware(Guard, door=settings.door)],
        exception_handlers=FAULTS,
    )


async def _sweep(store: Store, keep_days: float) -> None:
    while True:
        store.sweep(keep_days)
        await asyncio.sleep(SWEEP_S)


# --- what goes wrong ---


async def _refused(request: Request, error: Exception) -> Response:
    text = " ".join(str(error).split())
    return JSONResponse({"error": text}, _status(error), {"connection": "close"} if _status(error) == 413 else None)


def _status(error: Exception) -> int:
    if isinstance(error, Refused):
        return error.status
    return {NotThere: 404, Changed: 412, Busy: 503, Failed: 500}.get(type(error), 422)


async def _unforeseen(request: Request, error: Exception) -> Response:
    return JSONResponse({"error": "this should not have happened: the server's own output says what did"}, 500)


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": error.detail}, error.status_code, error.headers)


FAULTS = {OverrulerError: _refused, HTTPException: _http, Exception: _unforeseen}
"""What is answered when something goes wrong, for every application here."""
