"""The socket that tells what becomes of a measurement, as it happens."""

import asyncio

from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from overruler.apps.web.phone.api import MEASUREMENT_PATH, get_service
from overruler.apps.web.phone.measurements import MeasurementService


async def stream_progress(socket: WebSocket) -> None:
    """Tell what becomes of a measurement, until it has ended."""
    clerk, name = get_service(socket), socket.path_params["id"]
    await socket.accept()
    gone = asyncio.create_task(_wait_for_close(socket))
    telling = asyncio.create_task(_send_progress(socket, clerk, name))
    done, waiting = await asyncio.wait({gone, telling}, return_when=asyncio.FIRST_COMPLETED)
    for task in waiting:
        task.cancel()
    await asyncio.gather(*done, *waiting, return_exceptions=True)


async def _send_progress(socket: WebSocket, clerk: MeasurementService, name: str) -> None:
    news = clerk.news.subscribe(name)
    first = asyncio.ensure_future(
        anext(news)
    )  # listens before it looks, so that nothing falls between
    await asyncio.sleep(0)
    found = clerk.store.find(name)
    state = (
        found.to_json()
        if found
        else {"id": name, "state": "failed", "step": "there is no such measurement"}
    )
    await socket.send_json(state)
    while state["state"] not in ("done", "failed"):
        state = await first
        await socket.send_json(state)
        first = asyncio.ensure_future(anext(news))
    first.cancel()
    await socket.close()


async def _wait_for_close(socket: WebSocket) -> None:
    try:
        while True:
            await socket.receive_text()  # what a client says here means nothing
    except (WebSocketDisconnect, RuntimeError, KeyError):
        return


routes = [WebSocketRoute(f"{MEASUREMENT_PATH}/watch", stream_progress)]
