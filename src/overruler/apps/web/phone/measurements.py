"""The service behind the HTTP API: it accepts photos, has them measured, and keeps the results."""

import asyncio
import json
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from overruler.apps import bundles
from overruler.apps.measure import load_options
from overruler.apps.web.faults import (
    EditConflict,
    MeasurementNotFound,
    ServerBusy,
    TaskFailed,
    UploadRefused,
)
from overruler.apps.web.phone import uploads
from overruler.apps.web.phone.news import NewsChannel
from overruler.apps.web.phone.request_options import Choices, PhotoOptions
from overruler.apps.web.phone.store import DONE, FAILED, MEASURING, QUEUED, Measurement, Store
from overruler.apps.web.phone.worker_pool import BUSY_TEXT, WorkerPool
from overruler.apps.web.phone.worker_tasks import FIXES_FILE, SCENE_FILE
from overruler.fixes import read_fixes
from overruler.reading import Node
from overruler.scene import Scene
from overruler.writing import write_atomically

MAX_CACHED_SCENES = 64
"""Scenes kept in memory for questions."""
PHOTO_FILE_NAMES = {
    "JPEG": "photo.jpg",
    "HEIC": "photo.jpg",
    "PNG": "photo.png",
    "WEBP": "photo.webp",
}
"""Name under which a photo of each format is stored; HEIC becomes JPEG."""
HEAD_BYTES = 64
"""First bytes of a photo by which its format is detected."""
MAX_PARALLEL_UPLOADS = 6
"""Photos received at the same time; further ones wait."""
MAX_PARALLEL_CLEANING = 2
"""Photos cleaned at the same time; each needs several times its size in memory."""
WAITING_STEP = "waiting for its turn"
"""Step of a measurement that is queued."""


def _upload_slots() -> asyncio.Semaphore:
    return asyncio.Semaphore(MAX_PARALLEL_UPLOADS)


def _cleaning_slots() -> asyncio.Semaphore:
    return asyncio.Semaphore(MAX_PARALLEL_CLEANING)


@dataclass(slots=True)
class MeasurementService:
    """All measurements of a server."""

    store: Store
    workers: WorkerPool
    choices: Choices
    most_bytes: int = uploads.MAX_PHOTO_BYTES
    """Largest photo accepted."""
    news: NewsChannel = field(default_factory=NewsChannel)
    """Changes of state; the topic is the measurement's id."""
    _scenes: "OrderedDict[str, Scene]" = field(default_factory=OrderedDict)
    """Scenes by measurement, the least recently used first."""
    _upload_slots: asyncio.Semaphore = field(default_factory=_upload_slots)
    _cleaning_slots: asyncio.Semaphore = field(default_factory=_cleaning_slots)
    _fix_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while a correction is checked and made."""
    _running_tasks: set["asyncio.Task[None]"] = field(default_factory=set)
    """References that keep running tasks alive."""

    # --- uploads ---

    async def accept_photo(self, body: AsyncIterator[bytes], options: PhotoOptions) -> Measurement:
        """Store a photo and queue its measurement; a photo that is refused leaves nothing behind."""
        if self.workers.full:
            raise ServerBusy(BUSY_TEXT)
        name = self.store.new_id()
        try:
            async with self._upload_slots:
                photo = await self._save_photo(body, name)
            return self._enqueue_measurement(name, photo, options)
        except BaseException:
            self.store.remove(name)
            raise

    async def measure_again(self, measurement: Measurement, options: PhotoOptions) -> Measurement:
        """Measure the photo of a measurement with other options, as a new measurement."""
        name = self.store.new_id()
        photo = measurement.request.photo.name
        try:
            data = self.store.path_of(measurement.id, photo).read_bytes()
            write_atomically(self.store.path_of(name, photo), data)
            return self._enqueue_measurement(name, photo, options)
        except BaseException:
            self.store.remove(name)
            raise

    async def _save_photo(self, body: AsyncIterator[bytes], name: str) -> str:
        """Write the photo without its metadata into the measurement's folder; return its file's name."""
        data = await self._receive_photo(body)
        photo = PHOTO_FILE_NAMES[uploads.detect_format(data[:HEAD_BYTES])]
        async with self._cleaning_slots:
            cleaned = await asyncio.to_thread(uploads.strip_metadata, data)
        write_atomically(self.store.path_of(name, photo), cleaned)
        return photo

    async def _receive_photo(self, body: AsyncIterator[bytes]) -> bytes:
        """Read the body; refuse it as soon as it is too large or its first bytes are not a photo's."""
        data = bytearray()
        async for part in body:
            data += part
            if len(data) > self.most_bytes:
                raise photo_too_large(self.most_bytes)
            if len(data) >= HEAD_BYTES > len(data) - len(part):
                uploads.detect_format(bytes(data[:HEAD_BYTES]))
        return bytes(data)

    def _enqueue_measurement(self, name: str, photo: str, options: PhotoOptions) -> Measurement:
        folder = self.store.path_of(name)
        for file, text in options.files.items():
            write_atomically(folder / file, text)
        request = replace(options.request, photo=Path(photo))
        load_options(request.in_folder(folder))  # refuses now what no worker could measure
        measurement = Measurement(
            name, time.time(), QUEUED, WAITING_STEP, options.game, options.table, request
        )
        self.store.add(measurement)
        self._start_measuring(measurement)
        return measurement

    def _start_measuring(self, measurement: Measurement) -> None:
        task = asyncio.create_task(self._measure(measurement))
        self._running_tasks.add(task)
        task.add_done_callback(self._running_tasks.discard)

    # --- measuring ---

    async def _measure(self, measurement: Measurement) -> None:
        def on_progress(step: str) -> None:
            self._update_measurement(replace(measurement, state=MEASURING, step=step))

        folder = self.store.path_of(measurement.id)
        try:
            found = await self.workers.run_task(
                "measure", folder, [measurement.request], on_progress
            )
        except (TaskFailed, ServerBusy) as error:
            hint = {"unmeasurable": isinstance(error, TaskFailed) and error.unmeasurable}
            failed = replace(measurement, state=FAILED, step=str(error), found=hint)
            self._update_measurement(failed)
        else:
            self._update_measurement(replace(measurement, state=DONE, step="measured", found=found))

    def _update_measurement(self, measurement: Measurement) -> None:
        self._scenes.pop(measurement.id, None)
        if self.store.find(measurement.id):  # it may have been removed meanwhile
            self.store.add(measurement)
        self.news.publish(measurement.id, measurement.to_json())

    # --- results ---

    def find(self, name: str) -> Measurement:
        found = self.store.find(name)
        if found is None:
            raise MeasurementNotFound(
                "there is no such measurement: it was removed, or its time was up"
            )
        return found

    def find_done(self, name: str) -> Measurement:
        """Find a measurement that has a scene."""
        found = self.find(name)
        if found.state != DONE:
            raise MeasurementNotFound(f"not measured: {found.step}")
        return found

    def scene_file(self, name: str) -> Path:
        return self.store.path_of(self.find_done(name).id, SCENE_FILE)

    def scene(self, name: str) -> Scene:
        if name not in self._scenes:
            self._scenes[name] = Scene.load(self.scene_file(name))
            while len(self._scenes) > MAX_CACHED_SCENES:
                self._scenes.popitem(last=False)
        self._scenes.move_to_end(name)
        return self._scenes[name]

    def fixes(self, name: str) -> list[Any]:
        """The corrections in force, each as it was sent."""
        path = self.store.path_of(self.find(name).id, FIXES_FILE)
        if not path.exists():
            return []
        return list(json.loads(path.read_text())["fix"])

    async def apply_fixes(self, name: str, fixes: Node, version: str | None = None) -> Measurement:
        """Replace the corrections of a table; change nothing if one of them cannot be made.

        `EditConflict` if `version` is given and is not the table's.
        """
        read_fixes(fixes)
        async with self._fix_lock:
            measurement = self.find_done(name)
            if version not in (None, str(measurement.version)):
                raise EditConflict(
                    "somebody else has corrected this table meanwhile: look at it again, then correct it"
                )
            text = json.dumps(fixes.value)
            found = await self._run_urgent_task("correct", measurement, text)
            next_version = {"version": measurement.version + 1}
            self._update_measurement(replace(measurement, found={**found, **next_version}))
        return self.find(name)

    async def make_bundle(self, name: str, question: Mapping[str, Any]) -> bytes:
        """Make the dispute bundle of a ruling."""
        measurement = self.find_done(name)
        folder = self.store.path_of(name)
        optional = [file for file in bundles.OPTIONAL_FILES if (folder / file).exists()]
        names = [measurement.request.photo.name, SCENE_FILE, *optional]
        files = {file: (folder / file).read_bytes() for file in names}
        request = measurement.request
        if FIXES_FILE in files:
            request = replace(request, fix=Path(FIXES_FILE))
        arguments = request.to_arguments()
        return await asyncio.to_thread(bundles.make_bundle, files, arguments, question)

    async def draw_picture(self, name: str, questions: Sequence[Mapping[str, Any]]) -> bytes:
        """Draw the annotated photo as PNG."""
        measurement = self.find_done(name)
        png: bytes = await self._run_urgent_task("picture", measurement, list(questions))
        return png

    async def _run_urgent_task(self, task: str, measurement: Measurement, argument: Any) -> Any:
        folder = self.store.path_of(measurement.id)
        arguments = [measurement.request, argument]
        return await self.workers.run_task(task, folder, arguments, _ignore_progress, urgent=True)

    def remove(self, name: str) -> None:
        self._scenes.pop(self.find(name).id, None)
        self.store.remove(name)


def photo_too_large(most_bytes: int) -> UploadRefused:
    return UploadRefused(
        f"the photo is larger than {most_bytes / 1e6:g} MB: send it as the camera saved it", 413
    )


def _ignore_progress(step: str) -> None:
    """Report nothing: the client waits for the answer."""
