"""Scenes kept in memory for questions; each is read once, in a thread, however many ask for it."""

import asyncio
from collections import OrderedDict
from pathlib import Path

from overruler.scene import Scene

MAX_CACHED_SCENES = 64
"""Scenes kept in memory for questions."""


class SceneCache:
    """The scenes of measurements by id, each with the version of the table that it shows."""

    __slots__ = ("_loads",)

    def __init__(self) -> None:
        self._loads: OrderedDict[str, tuple[int, asyncio.Task[Scene]]] = OrderedDict()

    async def load(self, name: str, version: int, path: Path) -> Scene:
        """Return a scene, from its file where it is not known in this version."""
        known = self._loads.get(name)
        if known is None or known[0] != version:
            reading = asyncio.create_task(asyncio.to_thread(Scene.load, path))
            known = self._loads[name] = version, reading
            while len(self._loads) > MAX_CACHED_SCENES:
                self._loads.popitem(last=False)
        if name in self._loads:
            self._loads.move_to_end(name)
        try:
            return await asyncio.shield(known[1])
        except Exception:
            self.forget(name)
            raise

    def forget(self, name: str) -> None:
        self._loads.pop(name, None)
