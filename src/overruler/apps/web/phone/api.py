"""The handlers of the HTTP API, under /api; `endpoints` gives each its method, path and description."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from functools import partial
from typing import Any

from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import FileResponse, JSONResponse, Response

from overruler import __version__
from overruler.apps.web import scene_paths
from overruler.apps.web.faults import RETRY_AFTER_S, UploadTooSlow
from overruler.apps.web.phone import lan_address
from overruler.apps.web.phone.measurements import MeasurementService
from overruler.apps.web.phone.receiving import photo_too_large
from overruler.apps.web.phone.request_options import LENS_FILE, PhotoOptions, read_photo_options
from overruler.apps.web.phone.several import joining
from overruler.apps.web.phone.several.corrections import apply_fixes
from overruler.apps.web.phone.store import Measurement
from overruler.apps.web.phone.worker_tasks import screen_photo_file
from overruler.apps.web.quick_questions import arc_outlines, games_json
from overruler.apps.web.request_body import read_text
from overruler.apps.web.several_photos import close_up_of, photo_index, photos_json
from overruler.errors import OverrulerError, UnknownName
from overruler.reading import Node
from overruler.report import MAX_PHOTOS
from overruler.rules import ask
from overruler.scene import Piece, Scene

MEASUREMENT_PATH = "/api/measurements/{id}"
"""Path of one measurement."""
MAX_LISTED = 30
"""Measurements in the list of the newest."""
MAX_QUESTION_BYTES = 20_000
"""Longest body of a question."""
MAX_FIXES_BYTES = 200_000
"""Longest body of corrections."""
MAX_DRAINED_BYTES = 500_000_000
"""Bytes of a refused body that are still read."""
MAX_DRAIN_S = 30.0
"""Time for which a refused body is still read."""
MAX_BAND_LINES = 20
"""Range lines that one request may ask for."""
MAX_BAND_MM = 5000.0
"""Largest distance of a range line."""
PHOTO_NUMBERS = tuple(str(number + 1) for number in range(MAX_PHOTOS))
"""What a query may say of which photo of a table to send."""
Acceptor = Callable[[MeasurementService, AsyncIterator[bytes]], Awaitable[Measurement]]
"""What makes a measurement of a body."""
JSON_TYPE = "application/json"
PHOTO_CACHE_CONTROL = "private, max-age=86400"
"""Cache-Control of photos, which never change: a day."""


def get_service(connection: HTTPConnection) -> MeasurementService:
    service: MeasurementService = connection.app.state.service
    return service


# --- the server ---


async def get_about(request: Request) -> Response:
    service = get_service(request)
    return JSONResponse(
        {
            "version": __version__,
            "games": games_json(),
            "tables": list(service.choices.boards),
            "table_sizes_mm": service.choices.board_sizes_mm(),
            "lenses": list(service.choices.lenses),
            "most_bytes": service.most_bytes,
            "keep_days": request.app.state.settings.keep_days,
        }
    )


async def get_health(request: Request) -> Response:
    """Whether the server can do its work now: 200 or 503, with what is wrong."""
    problems = await get_service(request).find_problems()
    headers = {"retry-after": str(RETRY_AFTER_S)} if problems else {}
    document = {"ok": not problems, "problems": problems}
    return JSONResponse(document, 503 if problems else 200, headers)


# --- measurements ---


async def list_newest(request: Request) -> Response:
    newest = get_service(request).newest(MAX_LISTED)
    return JSONResponse([measurement.to_json() for measurement in newest])


async def post_photo(request: Request) -> Response:
    options = partial(_photo_options, request)
    return await receive_body(request, lambda service, body: service.accept_photo(body, options()))


async def receive_body(request: Request, accept: Acceptor) -> Response:
    """Have a photo accepted as it arrives, and answer with its measurement."""
    service, body = get_service(request), request.stream()
    try:
        _check_length(request, service.most_bytes)
        measurement = await accept(service, body)
    except UploadTooSlow:
        raise
    except OverrulerError:
        await _drain_body(body)
        raise
    return _accepted(measurement)


async def _drain_body(body: AsyncIterator[bytes]) -> None:
    """Read the rest of a refused body: a client that is cut off while it sends never reads the answer."""
    left = MAX_DRAINED_BYTES
    try:
        async with asyncio.timeout(MAX_DRAIN_S):
            async for part in body:
                left -= len(part)
                if left < 0:
                    return
    except (TimeoutError, ClientDisconnect):
        return


def _check_length(request: Request, most_bytes: int) -> None:
    length = request.headers.get("content-length", "0")
    if length.isdecimal() and int(length) > most_bytes:
        raise photo_too_large(most_bytes)


async def post_again(request: Request) -> Response:
    """Measure the photo otherwise; by the same lens where the query does not name another."""
    service = get_service(request)
    measurement = service.find(measurement_id(request))
    options = _photo_options(request)
    if "lens" not in request.query_params and measurement.request.lens is not None:
        text = service.read_file(measurement.id, LENS_FILE).decode()
        options = options.with_lens(text)
    return _accepted(await service.measure_again(measurement, options))


def _accepted(measurement: Measurement) -> Response:
    headers = {"location": f"/api/measurements/{measurement.id}"}
    return JSONResponse(measurement.to_json(), 202, headers)


async def get_measurement(request: Request) -> Response:
    return JSONResponse(get_service(request).find(measurement_id(request)).to_json())


async def delete_measurement(request: Request) -> Response:
    joining.remove_table(get_service(request), measurement_id(request))
    return Response(status_code=204)


# --- results ---


async def get_scene(request: Request) -> Response:
    path = get_service(request).scene_file(measurement_id(request))
    return FileResponse(path, media_type=JSON_TYPE)


async def get_table(request: Request) -> Response:
    """All that the page draws before a question."""
    service = get_service(request)
    name = measurement_id(request)
    # read before the scene: a scene newer than its version is read again, an older one would stay
    version = service.find(name).version
    scene = await service.scene(name)
    more = {"fixes": service.fixes(name), "version": version}
    photo = _photo_index(request, scene)
    text = await asyncio.to_thread(_table_text, scene, photo, more)
    return Response(text, media_type=JSON_TYPE, headers=_etag_header(version))


def _table_text(scene: Scene, photo: int, more: Mapping[str, Any]) -> str:
    table = scene_paths.table_json(scene, photo)
    return json.dumps({**table, **photos_json(scene, photo), **more}, allow_nan=False)


async def get_photo(request: Request) -> Response:
    """The photo as it is stored, or its smaller copy for screens."""
    service = get_service(request)
    measurement = service.find(measurement_id(request))
    size = Node(request.query_params.get("size", "shown"), "size").choice(("shown", "full"))
    file = joining.photo_file(measurement, _photo_number(request))
    path = service.store.path_of(measurement.id, screen_photo_file(file))
    if size == "full" or not path.exists():
        path = service.existing_file(measurement.id, file)
    return FileResponse(path, headers={"cache-control": PHOTO_CACHE_CONTROL})


async def post_question(request: Request) -> Response:
    """Rule on a question, given as JSON."""
    question = Node.of_json(await read_text(request, MAX_QUESTION_BYTES), "question")
    name = measurement_id(request)
    version = get_service(request).find(name).version
    scene = await get_service(request).scene(name)
    photo = _photo_index(request, scene)
    ruling = await asyncio.to_thread(_rule_on_question, scene, question, photo)
    return JSONResponse(ruling | {"version": version})


def _rule_on_question(scene: Scene, question: Node, photo: int) -> dict[str, Any]:
    verdict = ask(scene, question)
    return scene_paths.ruling_json(scene, verdict, photo) | close_up_of(scene, verdict)


async def get_bands(request: Request) -> Response:
    """The range lines round a piece."""
    scene = await get_service(request).scene(measurement_id(request))
    piece = _find_piece(request, scene)
    text = request.query_params.get("lines_mm", "")
    lines_mm = _parse_lines_mm(text) if text else scene_paths.range_lines_mm(scene)
    photo = _photo_index(request, scene)
    lines = await asyncio.to_thread(scene_paths.band_lines_json, scene, piece, lines_mm, photo)
    return JSONResponse(lines)


async def get_arcs(request: Request) -> Response:
    """The firing arcs of a piece."""
    scene = await get_service(request).scene(measurement_id(request))
    piece, photo = _find_piece(request, scene), _photo_index(request, scene)
    arcs = await asyncio.to_thread(arc_outlines, scene, piece, photo)
    return JSONResponse(arcs)


async def put_fixes(request: Request) -> Response:
    """Replace the corrections (overruler/fix/1); with If-Match, only those of the version that it names."""
    fixes = Node.of_json(await read_text(request, MAX_FIXES_BYTES), "fixes")
    etag = request.headers.get("if-match", "*").strip()
    version = None if etag == "*" else etag.strip('"')
    done = await apply_fixes(get_service(request), measurement_id(request), fixes, version)
    return JSONResponse(done.to_json(), headers=_etag_header(done.version))


def _etag_header(version: int) -> Mapping[str, str]:
    return {"etag": f'"{version}"'}


async def get_link(request: Request) -> Response:
    """The address of a measurement for other phones, and its QR code as the path of an SVG."""
    measurement = get_service(request).find(measurement_id(request))
    settings = request.app.state.settings
    key = settings.access_policy.key
    query = f"?key={key}" if key else ""
    code = lan_address.svg_qr_code(f"{settings.url}m/{measurement.id}{query}")
    return JSONResponse(code | {"this_machine_only": key is None})


# --- parts of a request ---


def measurement_id(request: Request) -> str:
    name: str = request.path_params["id"]
    return name


def _photo_index(request: Request, scene: Scene) -> int:
    """The index of the photo to draw on, among those that the scene was measured in."""
    return photo_index(Node(request.query_params.get("photo", "0"), "photo"), scene)


def _photo_number(request: Request) -> int:
    """The number of a photo, among those that were sent."""
    return int(Node(request.query_params.get("number", "1"), "number").choice(PHOTO_NUMBERS))


def _find_piece(request: Request, scene: Scene) -> Piece:
    name = request.query_params.get("piece", "")
    for piece in scene.pieces:
        if piece.id == name:
            return piece
    raise UnknownName("piece", name, (piece.id for piece in scene.pieces))


def _parse_lines_mm(text: str) -> tuple[float, ...]:
    node = Node.of_json(f"[{text}]", "lines_mm")
    lines = tuple(item.positive() for item in node.items())
    if len(lines) > MAX_BAND_LINES or max(lines, default=0) > MAX_BAND_MM:
        node.fail(f"at most {MAX_BAND_LINES} lines of at most {MAX_BAND_MM:g} mm")
    return lines


def _photo_options(request: Request) -> PhotoOptions:
    """The options in the query, which may hold the key too."""
    query = {name: value for name, value in request.query_params.items() if name != "key"}
    return read_photo_options(query, get_service(request).choices)


def query_question(request: Request) -> Node:
    return Node.of_json(request.query_params.get("question", ""), "question").object()
