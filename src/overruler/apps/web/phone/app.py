"""The application of the server for phones: its settings, its routes, its lifespan."""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import BaseRoute

from overruler.apps.web import static_files
from overruler.apps.web.faults import EXCEPTION_HANDLERS, StoreUnavailable
from overruler.apps.web.guard import AccessPolicy, Guard
from overruler.apps.web.phone import endpoints, progress_socket
from overruler.apps.web.phone.measurements import MeasurementService
from overruler.apps.web.phone.request_options import Choices, usual_boards
from overruler.apps.web.phone.store import Store
from overruler.apps.web.phone.uploads import MAX_PHOTO_BYTES
from overruler.apps.web.phone.worker_pool import WorkerPool

logger = logging.getLogger("overruler.server")
FIRST_SWEEP_S = 600.0
"""Time before the first removal of expired measurements: until then the clock has been set."""
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


def make_app(settings: Settings, opened: Store | None = None) -> Starlette:
    """Make the application; its worker processes live as long as its lifespan.

    `opened` is its store, where it is open already; the lifespan closes it.
    """

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        store = opened or Store(settings.store)
        workers = WorkerPool(settings.processes)
        app.state.settings = settings
        service = MeasurementService(store, workers, settings.choices, settings.most_bytes)
        app.state.service = service
        await workers.start()
        service.resume_interrupted()
        sweeping = asyncio.create_task(_sweep_forever(store, settings.keep_days))
        saving = asyncio.create_task(service.save_forever())
        try:
            yield
        finally:
            sweeping.cancel()
            saving.cancel()
            await workers.stop()
            await asyncio.gather(saving, return_exceptions=True)
            store.close()

    return Starlette(
        routes=ROUTES,
        lifespan=lifespan,
        middleware=[Middleware(Guard, policy=settings.access_policy)],
        exception_handlers=EXCEPTION_HANDLERS,
    )


async def _sweep_forever(store: Store, keep_days: float) -> None:
    await asyncio.sleep(FIRST_SWEEP_S)
    while True:
        try:
            store.remove_expired(keep_days)
        except StoreUnavailable as error:
            logger.warning("what has expired stays for now: %s", error)
        await asyncio.sleep(SWEEP_INTERVAL_S)
