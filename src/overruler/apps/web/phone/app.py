"""The application of the server for phones: its settings, its routes, its lifespan."""

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
from overruler.apps.web.phone import endpoints, progress_socket
from overruler.apps.web.phone.measurements import MeasurementService
from overruler.apps.web.phone.request_options import Choices, usual_boards
from overruler.apps.web.phone.store import Store
from overruler.apps.web.phone.uploads import MAX_PHOTO_BYTES
from overruler.apps.web.phone.worker_pool import WorkerPool

SWEEP_INTERVAL_S = 3600.0
"""Time between two removals of expired measurements."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of the server."""

    store: Path
    """Folder of the measurements."""
    access_policy: AccessPolicy
    url: str = "http://localhost/"
    """The server's address for others, without the key."""
    choices: Choices = field(default_factory=lambda: Choices(usual_boards()))
    keep_days: float = 30.0
    """Days that a measurement is kept."""
    processes: int = 1
    """Number of worker processes."""
    most_bytes: int = MAX_PHOTO_BYTES
    """Largest photo accepted."""


ROUTES: Sequence[BaseRoute] = (*static_files.routes, *endpoints.routes, *progress_socket.routes)
"""Every route of the application."""


def make_app(settings: Settings) -> Starlette:
    """Make the application; its worker processes live as long as its lifespan."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        store = Store(settings.store)
        workers = WorkerPool(settings.processes)
        app.state.settings = settings
        app.state.service = MeasurementService(
            store, workers, settings.choices, settings.most_bytes
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
        middleware=[Middleware(Guard, policy=settings.access_policy)],
        exception_handlers=EXCEPTION_HANDLERS,
    )


async def _sweep_forever(store: Store, keep_days: float) -> None:
    while True:
        store.remove_expired(keep_days)
        await asyncio.sleep(SWEEP_INTERVAL_S)
