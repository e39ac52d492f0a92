"""A photo for whose results the disk has no room is measured again when it has."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from overruler.apps.web.faults import StoreUnavailable, TaskFailed
from overruler.apps.web.phone.store import Store

MAX_ATTEMPTS = 5
"""How often a photo is measured for whose results the disk has no room."""
ROOM_INTERVAL_S = 5.0
"""Time between two looks at whether the disk has room again."""


async def run_until_stored(
    run: Callable[[], Awaitable[Any]], store: Store, on_progress: Callable[[str], None]
) -> Any:
    """Run a measurement; again after a `TaskFailed` that is the disk's fault."""
    for _ in range(MAX_ATTEMPTS - 1):
        try:
            return await run()
        except TaskFailed as error:
            if not error.lacks_room:
                raise
            on_progress(f"{error}: the photo is measured as soon as there is room")
        await _wait_for_room(store)
    return await run()


async def _wait_for_room(store: Store) -> None:
    while True:
        await asyncio.sleep(ROOM_INTERVAL_S)
        try:
            return await asyncio.to_thread(store.probe_disk)
        except StoreUnavailable:
            continue
