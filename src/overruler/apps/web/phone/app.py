"""The application, put together: routers are flat files, and the guard stands before them all."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import BaseRoute

from overruler.apps.web import static_files
from overruler.apps.web.faults import EXCEPTION_HANDLERS
from overruler.apps.web.guard import AccessPolicy, Guard
from overruler.apps.web.phone import api, progress_socket
from overruler.apps.web.phone.measurements import MeasurementService
from overruler.apps.web.phone.request_options import Choices, usual_boards
from overruler.apps.web.phone.store import Store
from overruler.apps.web.phone.uploads import MAX_PHOTO_BYTES
from overruler.apps.web.phone.worker_pool import WorkerPool

SWEEP_INTERVAL_S = 3600.0


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything the server is told when it starts."""

    store: Path
    access_policy: AccessPolicy
    url: str = "http://localhost/"
    """Where others find it, without the key."""
    choices: Choices = field(default_factory=lambda: Choices(usual_boards()))
    keep_days: float = 30.0
    processes: int = 1
    most_bytes: int = MAX_PHOTO_BYTES


ROUTES: Sequence[BaseRoute] = (*static_files.routes, *api.routes, *progress_socket.routes)


def make_app(settings: Settings) -> Starlette:
    """The server's application; its processes start and end with its lifespan."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        store, workers = Store(settings.store), WorkerPool(settings.processes)
        app.state.clerk = MeasurementService(store, workers, settings.choices, settings.most_bytes)
        app.state.keep_days, app.state.door, app.state.url = (
            settings.keep_days,
            settings.access_policy,
            settings.url,
        )
        await workers.start()
        sweeping = asyncio.create_task(_sweep_forever(store, settings.keep_days))
        try:
            yield
        finally:
            sweeping.cancel()
            await workers.stop()
            store.close()

    return Starlette(
        routes=ROUTES,
        lifespan=lifespan,
        middleware=[Middleware(Guard, door=settings.access_policy)],
        exception_handlers=EXCEPTION_HANDLERS,
    )


async def _sweep_forever(store: Store, keep_days: float) -> None:
    while True:
        store.remove_expired(keep_days)
        await asyncio.sleep(SWEEP_INTERVAL_S)
