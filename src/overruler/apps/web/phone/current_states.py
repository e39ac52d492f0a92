"""The current states of measurements: those at work, and those that the store does not take at present.

A full disk or a locked database delays a row, and loses nothing while the server runs.
"""

import asyncio
import logging

from overruler.apps.web.faults import StoreUnavailable
from overruler.apps.web.phone.store import (
    DONE,
    FAILED,
    QUEUED,
    RESUMES_KEY,
    Measurement,
    Store,
)

ADD_PATIENCE_S = 10.0
"""For how long a new measurement is tried to be written before its client is told."""
ADD_INTERVAL_S = 0.25
"""Time between two of these attempts."""
SAVE_INTERVAL_S = 1.0
"""Time between two attempts to write what the store did not take."""
MAX_RESUMES = 5
"""How often a photo is measured again whose server was stopped: it may be what stops servers."""
ENDED_STATES = (DONE, FAILED)
"""States in which a measurement stays."""
WAITING_STEP = "waiting for its turn"
"""Step of a measurement that is queued."""
logger = logging.getLogger("overruler.server")


class CurrentStates:
    """Measurements that are newer than their rows."""

    __slots__ = ("_adding", "_by_id", "_store")

    def __init__(self, store: Store) -> None:
        self._store = store
        self._by_id: dict[str, Measurement] = {}
        self._adding = asyncio.Lock()

    def look_up(self, name: str) -> Measurement | None:
        """Find a measurement in its current state."""
        return self._by_id.get(name) or self._store.find(name)

    def newest(self, most: int) -> list[Measurement]:
        return [self._by_id.get(each.id, each) for each in self._store.newest(most)]

    def followers(self, name: str) -> list[Measurement]:
        """The measurements made by adding a photo to that of an id."""
        return [self._by_id.get(each.id, each) for each in self._store.followers(name)]

    async def add_row(self, measurement: Measurement) -> None:
        """Write a new measurement; `StoreUnavailable` if the store does not take it for a while."""
        reasons: list[StoreUnavailable] = []
        try:
            async with asyncio.timeout(ADD_PATIENCE_S):
                await self._add_in_turn(measurement, reasons)
        except TimeoutError:
            raise reasons[-1] if reasons else StoreUnavailable("it is too slow") from None

    async def _add_in_turn(self, measurement: Measurement, reasons: list[StoreUnavailable]) -> None:
        """Write a new measurement as soon as that works; an attempt keeps everybody waiting."""
        async with self._adding:
            while True:
                try:
                    return self._store.add(measurement)
                except StoreUnavailable as error:
                    reasons.append(error)
                    await asyncio.sleep(ADD_INTERVAL_S)

    def begin(self, measurement: Measurement) -> None:
        """Keep the states of a measurement from now on, until it has ended."""
        self._by_id[measurement.id] = measurement

    def update(self, measurement: Measurement) -> None:
        """Keep a newer state; the row of an ended measurement follows as soon as the store takes it."""
        if measurement.id in self._by_id:  # it may have been removed meanwhile
            self._by_id[measurement.id] = measurement
            self._save_if_ended(measurement)

    def forget(self, name: str) -> None:
        self._by_id.pop(name, None)

    def save_unsaved(self) -> bool:
        """Write what the store did not take before; return whether it has taken all."""
        return all(self._save_if_ended(each) for each in list(self._by_id.values()))

    async def save_forever(self) -> None:
        """Write what the store did not take before, until cancelled."""
        while True:
            await asyncio.sleep(SAVE_INTERVAL_S)
            self.save_unsaved()

    def take_up_interrupted(self) -> list[Measurement]:
        """Queue what a stopped server left unfinished."""
        queued = []
        for name in self._store.interrupted:
            before = self._store.find(name)
            if before is None or before.resumes >= MAX_RESUMES:
                continue
            after = before.in_state(
                QUEUED, WAITING_STEP, {**before.found, RESUMES_KEY: before.resumes + 1}
            )
            try:
                self._store.add(after)
            except StoreUnavailable as error:
                logger.warning("%s: not taken up again: %s", name, error)
                continue
            queued.append(after)
        return queued

    def _save_if_ended(self, measurement: Measurement) -> bool:
        """Write the row of a measurement that has ended; return False if the store does not take it."""
        if measurement.state not in ENDED_STATES:
            return True
        try:
            self._store.add(measurement)
        except StoreUnavailable as error:
            logger.warning("%s: not written yet: %s", measurement.id, error)
            return False
        self._by_id.pop(measurement.id, None)
        return True
