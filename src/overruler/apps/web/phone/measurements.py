"""The clerk: takes photos in, has them measured, keeps what comes of it, and answers questions about it."""

import asyncio
import json
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from overruler.apps import bundles
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
from overruler.apps.web.phone.worker_pool import WorkerPool
from overruler.apps.web.phone.worker_tasks import FIXES_FILE, SCENE_FILE, parse_options
from overruler.errors import BadInput
from overruler.fixes import read_fixes
from overruler.reading import Node
from overruler.scene import Scene
from overruler.writing import write_atomically

MAX_CACHED_SCENES = 64
"""Scenes kept ready for questions."""
PHOTO_FILE_NAMES = {
    "JPEG": "photo.jpg",
    "HEIC": "photo.jpg",
    "PNG": "photo.png",
    "WEBP": "photo.webp",
}
MAX_PARALLEL_UPLOADS = 6
"""Photos received at the same time; the next ones are read when one of them has come."""
MAX_PARALLEL_CLEANING = 2
"""Photos cleaned at the same time: each takes its bytes several times over."""
WAITING_STEP = "waiting for its turn"


@dataclass(slots=True)
class MeasurementService:
    """One for each server."""

    store: Store
    workers: WorkerPool
    choices: Choices
    most_bytes: int = uploads.MAX_PHOTO_BYTES
    news: NewsChannel = field(default_factory=NewsChannel)
    _scenes: "OrderedDict[str, Scene]" = field(default_factory=OrderedDict)
    _upload_slots: asyncio.Semaphore = field(
        default_factory=lambda: asyncio.Semaphore(MAX_PARALLEL_UPLOADS)
    )
    _cleaning_slots: asyncio.Semaphore = field(
        default_factory=lambda: asyncio.Semaphore(MAX_PARALLEL_CLEANING)
    )
    _fix_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    _running_tasks: set["asyncio.Task[None]"] = field(default_factory=set)

    # --- taking in ---

    async def accept_photo(self, body: AsyncIterator[bytes], wish: PhotoOptions) -> Measurement:
        """Keep a photo as it comes and have it measured; `UploadRefused` and nothing kept where it is none."""
        if self.workers.full:
            raise ServerBusy("too many photos are waiting: try again in a minute")
        name = self.store.new_id()
        try:
            async with self._upload_slots:
                photo = await self._save_photo(body, name)
            return self._enqueue_measurement(name, photo, wish)
        except BaseException:
            self.store.remove(name)
            raise

    async def measure_again(self, measurement: Measurement, wish: PhotoOptions) -> Measurement:
        """Measure the photo of a measurement anew, as another one."""
        name = self.store.new_id()
        photo = measurement.arguments[0]
        try:
            write_atomically(
                self.store.path_of(name, photo),
                self.store.path_of(measurement.id, photo).read_bytes(),
            )
            return self._enqueue_measurement(name, photo, wish)
        except BaseException:
            self.store.remove(name)
            raise

    async def _save_photo(self, body: AsyncIterator[bytes], name: str) -> str:
        """Write the photo, cleaned, into the measurement's folder; its file's name."""
        data = bytearray()
        async for part in body:
            data += part
            if len(data) > self.most_bytes:
                raise photo_too_large(self.most_bytes)
            if len(data) >= 64 > len(data) - len(part):
                uploads.detect_format(
                    bytes(data[:64])
                )  # what is no photo need not be sent to its end
        photo = PHOTO_FILE_NAMES[uploads.detect_format(bytes(data[:64]))]
        async with self._cleaning_slots:
            cleaned = await asyncio.to_thread(uploads.strip_metadata, bytes(data))
        write_atomically(self.store.path_of(name, photo), cleaned)
        return photo

    def _enqueue_measurement(self, name: str, photo: str, wish: PhotoOptions) -> Measurement:
        folder = self.store.path_of(name)
        for file, text in wish.files.items():
            write_atomically(folder / file, text)
        arguments = (photo, *wish.arguments)
        _check_options(folder, arguments, wish.files)
        measurement = Measurement(
            name, time.time(), QUEUED, WAITING_STEP, wish.game, wish.table, arguments
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
        folder = self.store.path_of(measurement.id)
        arguments = list(measurement.arguments)
        try:
            found = await self.workers.run_task(
                "measure", folder, arguments, lambda text: self._report_progress(measurement, text)
            )
            self._update_measurement(replace(measurement, state=DONE, step="measured", found=found))
        except (TaskFailed, ServerBusy) as error:
            hint = {"unmeasurable": isinstance(error, TaskFailed) and error.unmeasurable}
            self._update_measurement(
                replace(measurement, state=FAILED, step=str(error), found=hint)
            )

    def _report_progress(self, measurement: Measurement, text: str) -> None:
        self._update_measurement(replace(measurement, state=MEASURING, step=text))

    def _update_measurement(self, measurement: Measurement) -> None:
        self._scenes.pop(measurement.id, None)
        if self.store.find(measurement.id):  # it may have been removed meanwhile
            self.store.add(measurement)
        self.news.publish(measurement.id, measurement.to_json())

    # --- what came of it ---

    def find(self, name: str) -> Measurement:
        found = self.store.find(name)
        if found is None:
            raise MeasurementNotFound(
                "there is no such measurement: it was removed, or its time was up"
            )
        return found

    def scene_file(self, name: str) -> Path:
        """The scene of a measurement that is done."""
        found = self.find(name)
        if found.state != DONE:
            raise MeasurementNotFound(f"not measured: {found.step}")
        return self.store.path_of(name, SCENE_FILE)

    def scene(self, name: str) -> Scene:
        if name not in self._scenes:
            self._scenes[name] = Scene.load(self.scene_file(name))
            while len(self._scenes) > MAX_CACHED_SCENES:
                self._scenes.popitem(last=False)
        self._scenes.move_to_end(name)
        return self._scenes[name]

    def fixes(self, name: str) -> list[Any]:
        """The corrections made so far, each as it was sent."""
        path = self.store.path_of(self.find(name).id, FIXES_FILE)
        return list(json.loads(path.read_text())["fix"]) if path.exists() else []

    async def apply_fixes(self, name: str, fixes: Node, version: str | None = None) -> Measurement:
        """Put these corrections in place of those before; nothing changes where one of them cannot be made, nor
        (`EditConflict`) where `version` is given and is not the table's any more."""
        read_fixes(fixes)
        async with self._fix_lock:
            self.scene_file(name)
            measurement = self.find(name)
            if version not in (None, str(measurement.version)):
                raise EditConflict(
                    "somebody else has corrected this table meanwhile: look at it again, then correct it"
                )
            arguments = [*measurement.arguments, json.dumps(fixes.value)]
            found = await self._run_urgent_task("correct", name, arguments)
            self._update_measurement(
                replace(measurement, found={**found, "version": measurement.version + 1})
            )
        return self.find(name)

    async def make_bundle(self, name: str, question: Mapping[str, Any]) -> bytes:
        """The dispute bundle of a ruling."""
        self.scene_file(name)
        arguments, folder = list(self.find(name).arguments), self.store.path_of(name)
        held = [
            arguments[0],
            SCENE_FILE,
            *(file for file in bundles.OPTIONAL_FILES if (folder / file).exists()),
        ]
        if FIXES_FILE in held:
            arguments += ["--fix", FIXES_FILE]
        files = {file: (folder / file).read_bytes() for file in held}
        return await asyncio.to_thread(bundles.make_bundle, files, arguments, question)

    async def _run_urgent_task(self, task: str, name: str, arguments: list[Any]) -> Any:
        return await self.workers.run_task(
            task, self.store.path_of(name), arguments, lambda text: None, urgent=True
        )

    async def draw_picture(self, name: str, questions: Sequence[Mapping[str, Any]]) -> bytes:
        """The annotated photo as PNG."""
        self.scene_file(name)
        arguments = [*self.find(name).arguments, list(questions)]
        done: bytes = await self._run_urgent_task("picture", name, arguments)
        return done

    def remove(self, name: str) -> None:
        self._scenes.pop(self.find(name).id, None)
        self.store.remove(name)


def photo_too_large(most_bytes: int) -> UploadRefused:
    return UploadRefused(
        f"the photo is larger than {most_bytes / 1e6:g} MB: send it as the camera saved it", 413
    )


def _check_options(folder: Path, arguments: Sequence[str], files: Mapping[str, str]) -> None:
    """Raise `BadInput` now where the options of the measurement make no sense."""
    try:
        parse_options(
            [str(folder / argument) if argument in files else argument for argument in arguments]
        )
    except SystemExit:
        raise BadInput("the options of the measurement make no sense") from None
