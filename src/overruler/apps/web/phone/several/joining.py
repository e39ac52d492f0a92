"""Photos added to a table: all of them are measured together, as a measurement that follows the last.

The measurement before stays as it is until then, and it is what an undo goes back to.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from overruler.apps.web.faults import MeasurementNotFound, ServerBusy, UploadRefused
from overruler.apps.web.phone.measurements import MeasurementService
from overruler.apps.web.phone.request_options import (
    BOARD_FILE,
    LENS_FILE,
    TAUGHT_FILE,
    PhotoOptions,
)
from overruler.apps.web.phone.store import AFTER_KEY, BEFORE_KEY, Measurement
from overruler.apps.web.phone.worker_pool import BUSY_TEXT
from overruler.apps.web.phone.worker_tasks import (
    EARLIER_FILE,
    FOUND_FILE,
    SCENE_FILE,
)
from overruler.report import MAX_PHOTOS
from overruler.writing import write_atomically

POINTS_TEXT = (
    "photos join by their markers, and this table was shown by its corners: "
    "photograph it with markers on it"
)
"""Why no photo can be added to a table without markers."""


async def add_photo(
    service: MeasurementService, name: str, body: AsyncIterator[bytes]
) -> Measurement:
    """Measure a table anew with one photo more; a photo that is refused leaves nothing behind."""
    before = service.find_done(name)
    if before.request.point:
        raise UploadRefused(POINTS_TEXT, 422)
    if len(before.photo_files) >= MAX_PHOTOS:
        raise UploadRefused(f"a table has {MAX_PHOTOS} photos at most: take one out first", 422)
    if service.workers.full:
        raise ServerBusy(BUSY_TEXT)

    async def start(new: str) -> Measurement:
        photo = await service.save_photo(body, new, len(before.photo_files) + 1)
        known = (BOARD_FILE, LENS_FILE, TAUGHT_FILE)
        options = [file for file in known if _exists(service, before, file)]
        for file in (*before.photo_files, *options):
            await service.copy_file(before, new, file)
        fixes = service.fixes(before.id)
        if fixes and _exists(service, before, FOUND_FILE):
            await asyncio.to_thread(_keep_corrections, service, before, new, fixes)
        more = (*before.request.more, Path(photo))
        wanted = PhotoOptions(before.game, before.table, replace(before.request, more=more))
        first = before.request.photo.name
        return await service.enqueue_measurement(new, first, wanted, {BEFORE_KEY: before.id})

    return await service.start_in_new_folder(start)


def _exists(service: MeasurementService, measurement: Measurement, file: str) -> bool:
    return service.store.path_of(measurement.id, file).exists()


def _keep_corrections(
    service: MeasurementService, before: Measurement, new: str, fixes: list[Any]
) -> None:
    """Write what the worker needs to make the corrections again."""
    found, corrected = (
        json.loads(service.read_file(before.id, file)) for file in (FOUND_FILE, SCENE_FILE)
    )
    text = json.dumps({"found": found, "corrected": corrected, "fix": fixes})
    write_atomically(service.store.path_of(new, EARLIER_FILE), text)


def take_out_photo(service: MeasurementService, name: str) -> Measurement:
    """Go back to the measurement without the photo that was added last."""
    last = service.find(name)
    before = service.look_up(last.before)
    if before is None:
        raise MeasurementNotFound("no photo was added to this table")
    service.remove(name)
    service.change_ended(before, {k: v for k, v in before.found.items() if k != AFTER_KEY})
    return service.find(before.id)


def remove_table(service: MeasurementService, name: str) -> None:
    """Remove a measurement, and those with photos less or more of the same table."""
    chosen = service.find(name)
    for key in (BEFORE_KEY, AFTER_KEY):
        other = service.look_up(str(chosen.found.get(key, "")))
        while other is not None:
            service.remove(other.id)
            other = service.look_up(str(other.found.get(key, "")))
    service.remove(name)


def photo_file(measurement: Measurement, number: int) -> str:
    """Name of a photo of the table, counted from 1; the server's own, whatever a client says."""
    if number > len(measurement.photo_files):
        raise MeasurementNotFound(f"this table has no photo {number}")
    return measurement.photo_files[number - 1]
