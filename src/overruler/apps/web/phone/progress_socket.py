"""The WebSocket that reports the progress of a measurement."""

import asyncio

from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket

from overruler.apps.web.phone.api import MEASUREMENT_PATH, get_service
from overruler.apps.web.phone.measurements import MeasurementService
from overruler.apps.web.phone.news import News
from overruler.apps.web.sockets import send_until_closed


async def stream_progress(socket: WebSocket) -> None:
    """Send the state of a measurement whenever it changes, until it has ended."""
    service = get_service(socket)
    name = socket.path_params["id"]
    await socket.accept()
    await send_until_closed(socket, _send_progress(socket, service, name))


async def _send_progress(socket: WebSocket, service: MeasurementService, name: str) -> None:
    news = service.news.subscribe(name)
    # subscribe before reading the state: no change can fall between the two
    following = asyncio.ensure_future(anext(news))
    await asyncio.sleep(0)
    state = _current_state(service, name)
    await socket.send_json(state)
    while state["state"] not in ("done", "failed"):
        state = await following
        await socket.send_json(state)
        following = asyncio.ensure_future(anext(news))
    following.cancel()
    await socket.close()


def _current_state(service: MeasurementService, name: str) -> News:
    measurement = service.look_up(name)
    if measurement is None:
        return {"id": name, "state": "failed", "step": "there is no such measurement"}
    return measurement.to_json()


routes = [WebSocketRoute(f"{MEASUREMENT_PATH}/watch", stream_progress)]
