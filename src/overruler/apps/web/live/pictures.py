"""HTTP handlers for pictures: the graphics on air as PNG and as a film, and the camera's own picture."""

import asyncio
import hashlib
from functools import lru_cache

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from overruler.apps.web.faults import ServerBusy
from overruler.apps.web.live.actions import get_desk
from overruler.apps.web.live.graphics import LAYERS, SHOW_LAYER
from overruler.apps.web.live.piece_marks import place_labels, svg_document
from overruler.errors import BadInput, UnknownName

ALL_LAYERS = (*LAYERS, SHOW_LAYER)
"""Layers that a picture may show."""
MIN_WIDTH_PX = 16
"""Narrowest picture."""
MAX_OVERLAY_WIDTH_PX = 3840
"""Widest PNG."""
MAX_CLIP_WIDTH_PX = 1920
"""Widest film."""
DEFAULT_OVERLAY_WIDTH_PX = 1920
"""Width of a PNG if none is asked for."""
DEFAULT_CLIP_WIDTH_PX = 1280
"""Width of a film if none is asked for."""


async def get_overlay_png(request: Request) -> Response:
    """The graphics on air as a PNG with alpha, for programs that cannot show a page."""
    desk = get_desk(request)
    width = _requested_width(request, DEFAULT_OVERLAY_WIDTH_PX, MAX_OVERLAY_WIDTH_PX)
    names = _requested_layers(request)
    layers = [svg for name, svg in desk.graphics_on_air().layers.items() if name in names]
    drawing = svg_document(layers, desk.size_px)
    digest = hashlib.sha256(f"{width} {drawing}".encode()).hexdigest()[:20]
    headers = {"etag": f'"{digest}"'}
    # a program that asks ten times a second must not cost ten drawings
    if request.headers.get("if-none-match") == headers["etag"]:
        return Response(status_code=304, headers=headers)
    png = await asyncio.to_thread(_render_png, drawing, width)
    return Response(png, media_type="image/png", headers=headers)


@lru_cache(maxsize=4)
def _render_png(drawing: str, width: int) -> bytes:
    from overruler.picture.raster import render_png

    return render_png(drawing, width)


def _requested_layers(request: Request) -> set[str]:
    text = request.query_params.get("show", ",".join(ALL_LAYERS))
    names = [name for name in text.split(",") if name]
    for name in names:
        if name not in ALL_LAYERS:
            raise UnknownName("show", name, ALL_LAYERS)
    return set(names)


def _requested_width(request: Request, default: int, most: int) -> int:
    text = request.query_params.get("width", str(default))
    if not text.isdecimal() or len(text) > 4 or not MIN_WIDTH_PX <= int(text) <= most:
        raise BadInput(f"width: a whole number from {MIN_WIDTH_PX} to {most}")
    return int(text)


async def get_labels(request: Request) -> Response:
    """Where the labels of the pieces stand on a desk's picture of some width."""
    width = _requested_width(request, DEFAULT_OVERLAY_WIDTH_PX, MAX_OVERLAY_WIDTH_PX)
    scene = get_desk(request).scene()
    if scene is None:
        return JSONResponse({"letters_px": 0.0, "labels": {}})
    return JSONResponse(await asyncio.to_thread(place_labels, scene, width))


async def get_clip(request: Request) -> Response:
    """The ruling on air as a film with alpha; one at a time, as the watcher needs the processor."""
    from overruler.apps.web.live.clip import render_clip

    desk = get_desk(request)
    width = _requested_width(request, DEFAULT_CLIP_WIDTH_PX, MAX_CLIP_WIDTH_PX)
    clip_lock: asyncio.Lock = request.app.state.clip_lock
    if clip_lock.locked():
        raise ServerBusy("another clip is being made: ask again in a few seconds")
    async with clip_lock:
        graphics = desk.graphics_on_air()
        film = await asyncio.to_thread(render_clip, graphics, desk.size_px, width)
    return Response(film, media_type="video/webm")


async def get_frozen_picture(request: Request) -> Response:
    return _jpeg_response(get_desk(request).frozen_jpeg())


async def get_picture(request: Request) -> Response:
    """The camera's newest picture."""
    return _jpeg_response(await asyncio.to_thread(get_desk(request).newest_jpeg))


def _jpeg_response(data: bytes | None) -> Response:
    if data is None:
        raise HTTPException(404, "there is no such picture now")
    return Response(data, media_type="image/jpeg")
