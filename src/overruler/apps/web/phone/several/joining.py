"""Photos added to a table: all of them are measured together, as a measurement that follows the last.

The measurement before stays as it is until then, and it is what an undo goes back to.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from overruler.apps.web.faults import (
    MeasurementNotFound,
    NewerPhotos,
    ServerBusy,
    UploadRefused,
)
from overruler.apps.web.phone.measurements import MeasurementService
from overruler.apps.web.phone.request_options import (
    BOARD_FILE,
    LENS_FILE,
    TAUGHT_FILE,
    PhotoOptions,
)
from overruler.apps.web.phone.store import (
    AFTER_KEY,
    BEFORE_KEY,
    DONE,
    FAILED,
    Measurement,
)
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
SENDING_TEXT = "another photo of this table is being sent: try again when it is measured"
"""What is said while somebody else sends a photo of the table."""
JOINING_TEXT = "another photo of this table is being measured: try again when that has ended"
"""What is said while a photo is measured with the others."""
NEWER_TEXT = "another photo was added to this table: go on with what all photos gave"
"""What is said of a measurement that another one follows."""


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
    with _added_alone(service, name):
        return await service.start_in_new_folder(partial(_join, service, before, body))


@contextmanager
def _added_alone(service: MeasurementService, name: str) -> Iterator[None]:
    """Keep others from adding a photo to a measurement while one is sent: only one could follow it."""
    check_is_newest(service, name)
    service.joins.add(name)
    try:
        yield
    finally:
        service.joins.discard(name)


def check_is_newest(service: MeasurementService, name: str) -> None:
    """Raise `NewerPhotos` where a photo is being added to a measurement, or has been."""
    if name in service.joins:
        raise NewerPhotos(SENDING_TEXT)
    for one in service.followers(name):
        if one.state != FAILED:
            raise NewerPhotos(NEWER_TEXT if one.state == DONE else JOINING_TEXT, one.id)


async def _join(
    service: MeasurementService, before: Measurement, body: AsyncIterator[bytes], new: str
) -> Measurement:
    """Store a photo in a new folder with those before it, and have all of them measured."""
    photo = await service.save_photo(body, new, len(before.photo_files) + 1)
    known = (BOARD_FILE, LENS_FILE, TAUGHT_FILE)
    options = [file for file in known if _exists(service, before, file)]
    for file in (*before.photo_files, *options):
        await service.copy_file(before, new, file)
    more = (*before.request.more, Path(photo))
    wanted = PhotoOptions(before.game, before.table, replace(before.request, more=more))
    first = before.request.photo.name
    async with service.fix_lock(before.id):  # what is being corrected goes on, too
        fixes = service.fixes(before.id)
        if fixes and _exists(service, before, FOUND_FILE):
            await asyncio.to_thread(_keep_corrections, service, before, new, fixes)
        joined = await service.enqueue_measurement(new, first, wanted, {BEFORE_KEY: before.id})
    if service.look_up(before.id) is None:  # removed meanwhile, with all that there was of it
        service.remove(new)
        service.find(before.id)
    return joined


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
    check_is_newest(service, name)
    service.remove(name)
    found = {key: value for key, value in before.found.items() if key != AFTER_KEY}
    others = [one.id for one in service.followers(before.id) if one.state == DONE]
    service.change_ended(before, found | ({AFTER_KEY: others[-1]} if others else {}))
    return service.find(before.id)


def remove_table(service: MeasurementService, name: str) -> None:
    """Remove a measurement and all others of its table, in whatever state: each holds its photos."""
    first = service.find(name)
    while (before := service.look_up(first.before)) is not None:
        first = before
    found = [first.before or first.id]  # its time may be up before that of what follows it
    for one in found:
        found += [follower.id for follower in service.followers(one)]
    for one in reversed(found):  # those that lead to others last
        if service.look_up(one) is not None:
            service.remove(one)


def photo_file(measurement: Measurement, number: int) -> str:
    """Name of a photo of the table, counted from 1; the server's own, whatever a client says."""
    if number > len(measurement.photo_files):
        raise MeasurementNotFound(f"this table has no photo {number}")
    return measurement.photo_files[number - 1]
