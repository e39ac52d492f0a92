"""Publish and subscribe in one process: a slow subscriber skips messages but always gets the newest."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from typing import Any

News = dict[str, Any]


class NewsChannel:
    """Topics and their subscribers; each subscriber has a queue of one message."""

    __slots__ = ("_queues",)

    def __init__(self) -> None:
        self._queues: defaultdict[str, set[asyncio.Queue[News]]] = defaultdict(set)

    def publish(self, topic: str, news: News) -> None:
        """Send a message to every subscriber of a topic; it replaces one that is still unread."""
        for queue in self._queues.get(topic, ()):
            if queue.full():
                queue.get_nowait()
            queue.put_nowait(news)

    async def subscribe(self, topic: str) -> AsyncGenerator[News, None]:
        """Yield the messages on a topic from now on."""
        with self._open_queue(topic) as queue:
            while True:
                yield await queue.get()

    @contextmanager
    def _open_queue(self, topic: str) -> Iterator[asyncio.Queue[News]]:
        queue: asyncio.Queue[News] = asyncio.Queue(1)
        self._queues[topic].add(queue)
        try:
            yield queue
        finally:
            self._queues[topic].discard(queue)
            if not self._queues[topic]:
                del self._queues[topic]
