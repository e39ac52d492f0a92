"""Connections of the servers: a client that sends half a request cannot keep the others out.

uvicorn waits for a request for ever, and counts those that never come. Here a request's headers must
come in time, and where there are too many connections the one that has waited longest makes room.
"""

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from overruler.apps.web.faults import RETRY_AFTER_S

HEADERS_TIMEOUT_S = 10.0
"""Time in which the headers of a request must come, from the connection or from their first byte."""
MAX_CONNECTIONS = 400
"""Most connections at once: a process may open 1024 files."""
FULL_ANSWER = (
    "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nconnection: close\r\n"
    f"retry-after: {RETRY_AFTER_S}\r\n\r\n"
    '{"error": "the server has all the connections that it can have: try again in a few seconds"}'
).encode()
"""Answer to a client for whom there is no room."""


class LimitedProtocol(H11Protocol):
    """A connection whose request must come in time."""

    headers_timer: asyncio.TimerHandle | None = None
    """Ends the connection if no request comes."""
    waiting_since_s = 0.0
    """When it began to wait for a request."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._await_request()
        if len(self.connections) > MAX_CONNECTIONS:
            self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        super().data_received(data)
        if not self.is_waiting():
            self._stop_timer()
        elif self.headers_timer is None:
            self._await_request()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        self._stop_timer()
        super().handle_websocket_upgrade(event)
        self.headers_timer = None

    def on_response_complete(self) -> None:
        self.waiting_since_s = self.loop.time()
        super().on_response_complete()

    def is_waiting(self) -> bool:
        """Whether no request of it is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def _await_request(self) -> None:
        if self.transport.get_protocol() is not self:  # it has become a WebSocket
            return
        self.waiting_since_s = self.loop.time()
        self.headers_timer = self.loop.call_later(HEADERS_TIMEOUT_S, self._end_if_waiting)

    def _stop_timer(self) -> None:
        if self.headers_timer is not None:
            self.headers_timer.cancel()
            self.headers_timer = None

    def _end_if_waiting(self) -> None:
        self.headers_timer = None
        if self.is_waiting():
            self.transport.abort()

    def _make_room(self) -> None:
        """End the connection that has waited longest for a request, or refuse this one."""
        waiting: list[Any] = [
            each
            for each in self.connections
            if isinstance(each, LimitedProtocol) and each is not self and each.is_waiting()
        ]
        oldest = min(waiting, key=lambda each: each.waiting_since_s, default=None)
        if oldest is None:
            self.transport.write(FULL_ANSWER)
            self.transport.close()
        else:
            self.connections.discard(oldest)
            oldest.transport.abort()
