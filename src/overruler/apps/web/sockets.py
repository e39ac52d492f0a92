"""WebSockets that only send: they end when the client has gone."""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.exceptions import InvalidState

NO_HTTP = "Invalid HTTP request received."
"""What uvicorn logs of a request that is no HTTP."""
NO_HTTP_TEXT = (
    "somebody asked for https, or sent what is no HTTP: open the address as it is printed "
    "(https needs --tls-cert and --tls-key)"
)
"""What is told instead."""
CANCELLED = "asyncio.exceptions.CancelledError"
"""How what is logged of a second Ctrl-C ends."""


class SocketProtocol(WebSocketsSansIOProtocol):
    """uvicorn's WebSocket, which ends where a client closes it behind a text that is none."""

    def data_received(self, data: bytes) -> None:
        """Take what the client sent; uvicorn would close once more, which is refused."""
        try:
            super().data_received(data)
        except InvalidState:
            self.transport.close()


class NoFaults(logging.Filter):
    """Keeps out of the log what is no fault of the server: a text that is not UTF-8, a second Ctrl-C.

    A request that is no HTTP is told once, in other words.
    """

    has_told_no_http = False
    """Whether a request that is no HTTP was told."""

    def filter(self, record: logging.LogRecord) -> bool:
        if str(record.msg) == NO_HTTP:
            is_first, self.has_told_no_http = not self.has_told_no_http, True
            record.msg = NO_HTTP_TEXT
            return is_first
        kind = record.exc_info[0] if record.exc_info else None
        return kind is not UnicodeDecodeError and not str(record.msg).rstrip().endswith(CANCELLED)


async def send_until_closed(socket: WebSocket, sending: Coroutine[Any, Any, None]) -> None:
    """Run `sending` until it ends or the client closes the socket; ignore what the client sends."""
    tasks = {asyncio.create_task(_wait_for_close(socket)), asyncio.create_task(sending)}
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _wait_for_close(socket: WebSocket) -> None:
    try:
        while True:
            await socket.receive()
            if socket.client_state.name == "DISCONNECTED":
                return
    except (WebSocketDisconnect, RuntimeError, KeyError):
        return
