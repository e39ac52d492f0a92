"""News for whoever listens: the newest word on a topic counts, and nobody waits for a listener that does not read."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator
from contextlib import contextmanager
from typing import Any

News = dict[str, Any]


class NewsChannel:
    """Topics and their listeners. A listener that is slow misses what was overtaken, never the newest."""

    def __init__(self) -> None:
        self._boxes: defaultdict[str, set[asyncio.Queue[News]]] = defaultdict(set)

    def publish(self, topic: str, news: News) -> None:
        for box in self._boxes.get(topic, ()):
            if box.full():
                box.get_nowait()
            box.put_nowait(news)

    async def subscribe(self, topic: str) -> AsyncGenerator[News, None]:
        """The newest word on a topic, from now on, each as it comes."""
        with self._open_queue(topic) as box:
            while True:
                yield await box.get()

    @contextmanager
    def _open_queue(self, topic: str) -> Any:
        box: asyncio.Queue[News] = asyncio.Queue(1)
        self._boxes[topic].add(box)
        try:
            yield box
        finally:
            self._boxes[topic].discard(box)
            if not self._boxes[topic]:
                del self._boxes[topic]
