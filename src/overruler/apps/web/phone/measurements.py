"""The service behind the HTTP API: it accepts photos, has them measured, and keeps the results."""

import asyncio
import json
import logging
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from overruler.apps.web.faults import (
    MeasurementNotFound,
    ServerBusy,
    StoreUnavailable,
    TaskFailed,
)
from overruler.apps.web.phone import uploads
from overruler.apps.web.phone.current_states import WAITING_STEP, CurrentStates
from overruler.apps.web.phone.disk_room import run_until_stored
from overruler.apps.web.phone.news import NewsChannel
from overruler.apps.web.phone.receiving import UploadGate, save_photo
from overruler.apps.web.phone.request_options import (
    BOARD_FILE,
    Choices,
    PhotoOptions,
    write_options,
)
from overruler.apps.web.phone.scene_cache import SceneCache
from overruler.apps.web.phone.store import (
    AFTER_KEY,
    BY_MARKERS_KEY,
    DONE,
    FAILED,
    MEASURING,
    QUEUED,
    Measurement,
    Store,
)
from overruler.apps.web.phone.worker_pool import BUSY_TEXT, WorkerPool
from overruler.apps.web.phone.worker_tasks import FIXES_FILE, REMOVED_TEXT, SCENE_FILE
from overruler.scene import Scene
from overruler.writing import write_atomically

logger = logging.getLogger("overruler.server")
HEALTH_INTERVAL_S = 1.0
"""For how long what the server found out about its health holds."""


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
    joins: set[str] = field(default_factory=set)
    """Ids of the measurements to which a photo is being sent."""
    _scenes: SceneCache = field(default_factory=SceneCache)
    _states: CurrentStates = field(init=False)
    _health: tuple[float, list[str]] = (-math.inf, [])
    """When the server last looked at its health, and the problems that it found."""
    _gate: UploadGate = field(default_factory=UploadGate)
    _fix_locks: WeakValueDictionary[str, asyncio.Lock] = field(default_factory=WeakValueDictionary)
    """Those of `fix_lock` that somebody holds or waits for, by the measurement."""
    _running_tasks: set["asyncio.Task[None]"] = field(default_factory=set)
    """References that keep running tasks alive."""

    def __post_init__(self) -> None:
        self._states = CurrentStates(self.store)

    # --- uploads ---

    async def accept_photo(self, body: AsyncIterator[bytes], options: PhotoOptions) -> Measurement:
        """Store a photo and queue its measurement; a photo that is refused leaves nothing behind."""
        if self.workers.full:
            raise ServerBusy(BUSY_TEXT)

        async def start(name: str) -> Measurement:
            photo = await self.save_photo(body, name)
            return await self.enqueue_measurement(name, photo, options)

        return await self.start_in_new_folder(start)

    async def measure_again(self, measurement: Measurement, options: PhotoOptions) -> Measurement:
        """Measure the photo of a measurement with other options, as a new measurement."""

        async def start(name: str) -> Measurement:
            photo = measurement.request.photo.name
            await self.copy_file(measurement, name, photo)
            return await self.enqueue_measurement(name, photo, options)

        return await self.start_in_new_folder(start)

    async def start_in_new_folder(
        self, start: Callable[[str], Awaitable[Measurement]]
    ) -> Measurement:
        """Start a measurement in a new folder, given its id; what fails leaves nothing behind."""
        name = self.store.new_id()
        try:
            return await start(name)
        except BaseException:
            self.store.discard_folder(name)
            raise

    async def copy_file(self, measurement: Measurement, name: str, file: str) -> None:
        """Copy a file of a measurement into the folder of another."""
        data = await asyncio.to_thread(self.read_file, measurement.id, file)
        await asyncio.to_thread(write_atomically, self.store.path_of(name, file), data)

    async def save_photo(self, body: AsyncIterator[bytes], name: str, number: int = 1) -> str:
        """Write a photo into the measurement's folder; return its file's name."""
        folder = self.store.path_of(name)
        return await save_photo(self._gate, body, self.most_bytes, folder, number)

    async def enqueue_measurement(
        self, name: str, photo: str, options: PhotoOptions, known: Mapping[str, Any] | None = None
    ) -> Measurement:
        """Store a new measurement whose photos lie in its folder, and have it done."""
        request = replace(options.request, photo=Path(photo))
        folder = self.store.path_of(name)
        await asyncio.to_thread(write_options, folder, request, options.files)
        measurement = Measurement(
            name, self.store.now_s(), QUEUED, WAITING_STEP, options.game, options.table, request,
            known or ({BY_MARKERS_KEY: True} if options.by_markers else {}),
        )  # fmt: skip
        await self._states.add_row(measurement)
        self._start_measuring(measurement)
        return measurement

    def resume_interrupted(self) -> None:
        """Measure what a stopped server left unfinished."""
        for measurement in self._states.take_up_interrupted():
            self._start_measuring(measurement)

    def _start_measuring(self, measurement: Measurement) -> None:
        self._states.begin(measurement)
        task = asyncio.create_task(self._measure(measurement))
        self._running_tasks.add(task)
        task.add_done_callback(self._running_tasks.discard)

    # --- measuring ---

    async def _measure(self, measurement: Measurement) -> None:
        def on_progress(step: str) -> None:
            self.update_measurement(measurement.in_state(MEASURING, step, measurement.found))

        async def run() -> Any:
            nonlocal measurement
            arguments = [measurement.request]
            try:
                return await self.workers.run_task("measure", folder, arguments, on_progress)
            except TaskFailed as error:
                by_markers = BY_MARKERS_KEY in measurement.found
                if not by_markers or error.board not in self.choices.boards:
                    raise
                measurement = await self._with_board(measurement, error.board)
            return await self.workers.run_task("measure", folder, arguments, on_progress)

        folder = self.store.path_of(measurement.id)
        try:
            found = await run_until_stored(run, self.store, on_progress)
        except (TaskFailed, ServerBusy) as error:
            hints = error.hints if isinstance(error, TaskFailed) else {"unmeasurable": False}
            found = {**measurement.found, **hints}
            self.update_measurement(measurement.in_state(FAILED, str(error), found))
        else:
            found = {**measurement.found, **found}
            done = measurement.in_state(DONE, "measured", found)
            self.update_measurement(done)
            self.link_after(done)

    async def _with_board(self, measurement: Measurement, board: str) -> Measurement:
        """The same measurement by the board that the photo's markers told."""
        path = self.store.path_of(measurement.id, BOARD_FILE)
        await asyncio.to_thread(write_atomically, path, self.choices.boards[board])
        return replace(measurement, table=board)

    def update_measurement(self, measurement: Measurement) -> None:
        logger.info("%s: %s", measurement.id, measurement.step)
        self._states.update(measurement)
        self.news.publish(measurement.id, measurement.to_json())

    def change_ended(self, measurement: Measurement, found: Mapping[str, Any]) -> None:
        """Give a measurement that has ended other results."""
        if self.store.path_of(measurement.id).exists():  # it may have been removed meanwhile
            self._states.begin(measurement)
        self.update_measurement(replace(measurement, found=dict(found)))

    def link_after(self, measurement: Measurement) -> None:
        """Tell the measurement before this one of it."""
        before = self.look_up(measurement.before)
        if before is not None:
            self.change_ended(before, {**before.found, AFTER_KEY: measurement.id})

    # --- upkeep ---

    async def save_forever(self) -> None:
        """Write what the store did not take before, until cancelled; then once more."""
        try:
            await self._states.save_forever()
        finally:
            self._states.save_unsaved()

    async def find_problems(self) -> list[str]:
        """What keeps the server from its work now, in words; empty where nothing does."""
        now_s = asyncio.get_running_loop().time()
        if now_s - self._health[0] > HEALTH_INTERVAL_S:
            self._health = now_s, await self._look_for_problems()
        return self._health[1]

    async def _look_for_problems(self) -> list[str]:
        problems = [self.workers.problem] if self.workers.problem else []
        try:
            self.store.probe_database()
            await asyncio.to_thread(self.store.probe_disk, self.most_bytes)
        except StoreUnavailable as error:
            problems.append(str(error))
        if self.workers.full:
            problems.append(BUSY_TEXT)
        return problems

    # --- results ---

    def look_up(self, name: str) -> Measurement | None:
        """Find a measurement in its current state."""
        return self._states.look_up(name)

    def followers(self, name: str) -> list[Measurement]:
        """The measurements made by adding a photo to that of an id."""
        return self._states.followers(name)

    def newest(self, most: int) -> list[Measurement]:
        """The newest tables: of one with several photos, what all of them gave."""
        return [each for each in self._states.newest(most) if AFTER_KEY not in each.found]

    def find(self, name: str) -> Measurement:
        found = self.look_up(name)
        if found is None:
            text = "there is no such measurement: it was removed, or its time was up"
            raise MeasurementNotFound(text)
        return found

    def find_done(self, name: str) -> Measurement:
        """Find a measurement that has a scene."""
        found = self.find(name)
        if found.state != DONE:
            raise MeasurementNotFound(f"not measured: {found.step}")
        return found

    def scene_file(self, name: str) -> Path:
        return self.existing_file(self.find_done(name).id, SCENE_FILE)

    def existing_file(self, name: str, file: str) -> Path:
        path = self.store.path_of(name, file)
        if not path.exists():
            raise MeasurementNotFound(
                f"{file} of this measurement is gone: measure the photo again"
            )
        return path

    async def scene(self, name: str) -> Scene:
        version = self.find_done(name).version
        return await self._scenes.load(name, version, self.scene_file(name))

    def fixes(self, name: str) -> list[Any]:
        """The corrections in force, each as it was sent."""
        path = self.store.path_of(self.find(name).id, FIXES_FILE)
        if not path.exists():
            return []
        return list(json.loads(path.read_text())["fix"])

    def fix_lock(self, name: str) -> asyncio.Lock:
        """What is held while the corrections of a measurement are read, or checked and made."""
        return self._fix_locks.setdefault(name, asyncio.Lock())

    async def run_urgent_task(self, task: str, measurement: Measurement, argument: Any) -> Any:
        """Have a worker do a task whose client waits for the answer, and is told of no progress."""
        folder = self.store.path_of(measurement.id)
        arguments = [measurement.request, argument]
        return await self.workers.run_task(task, folder, arguments, lambda _: None, urgent=True)

    def remove(self, name: str) -> None:
        """Remove a measurement alone."""
        self._scenes.forget(self.find(name).id)
        self.store.remove(name)
        self._states.forget(name)
        self.news.publish(name, {"id": name, "state": FAILED, "step": REMOVED_TEXT})

    def read_file(self, name: str, file: str) -> bytes:
        return self.existing_file(name, file).read_bytes()
