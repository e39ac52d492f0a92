"""What programs and the page ask of the server: JSON over HTTP, under /api. `openapi` describes it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

from overruler import __version__
from overruler.apps.web import scene_paths
from overruler.apps.web.faults import UploadRefused
from overruler.apps.web.phone import lan_address, openapi
from overruler.apps.web.phone.measurements import MeasurementService, photo_too_large
from overruler.apps.web.phone.request_options import read_photo_options
from overruler.apps.web.phone.worker_tasks import SCREEN_PHOTO_FILE
from overruler.apps.web.quick_questions import arc_outlines, games_json
from overruler.errors import OverrulerError, UnknownName
from overruler.reading import Node
from overruler.rules import ask
from overruler.scene import Piece, Scene

MAX_LISTED = 30
MAX_QUESTION_BYTES = 20_000
"""Bytes."""
MAX_FIXES_BYTES = 200_000
MAX_DRAINED_BYTES = 500_000_000
MAX_DRAIN_S = 30.0
MAX_BAND_MM = 5000.0


def get_service(request: HTTPConnection) -> MeasurementService:
    clerk: MeasurementService = request.app.state.clerk
    return clerk


# --- the server ---


async def get_about(request: Request) -> Response:
    clerk = get_service(request)
    return JSONResponse(
        {
            "version": __version__,
            "games": games_json(),
            "tables": list(clerk.choices.boards),
            "lenses": list(clerk.choices.lenses),
            "most_bytes": clerk.most_bytes,
            "keep_days": request.app.state.keep_days,
        }
    )


async def get_openapi(request: Request) -> Response:
    return JSONResponse(openapi.openapi_document(get_service(request).choices))


# --- measurements ---


async def list_newest(request: Request) -> Response:
    return JSONResponse(
        [found.to_json() for found in get_service(request).store.newest(MAX_LISTED)]
    )


async def post_photo(request: Request) -> Response:
    body = request.stream()
    try:
        return await _accept_photo(request, body)
    except OverrulerError:
        await _drain_body(body)
        raise


async def _drain_body(body: AsyncIterator[bytes]) -> None:
    """Let the rest of a refused body come and go: who is cut off while sending never reads why."""
    left = MAX_DRAINED_BYTES
    try:
        async with asyncio.timeout(MAX_DRAIN_S):
            async for part in body:
                left -= len(part)
                if left < 0:
                    return
    except (TimeoutError, ClientDisconnect):
        return


async def _accept_photo(request: Request, body: AsyncIterator[bytes]) -> Response:
    clerk = get_service(request)
    length = request.headers.get("content-length", "0")
    if length.isdecimal() and int(length) > clerk.most_bytes:
        raise photo_too_large(clerk.most_bytes)
    asked = read_photo_options(_query_without_key(request), clerk.choices)
    taken = await clerk.accept_photo(body, asked)
    return JSONResponse(taken.to_json(), 202, {"location": f"/api/measurements/{taken.id}"})


async def post_again(request: Request) -> Response:
    clerk = get_service(request)
    taken = await clerk.measure_again(
        clerk.find(_measurement_id(request)),
        read_photo_options(_query_without_key(request), clerk.choices),
    )
    return JSONResponse(taken.to_json(), 202, {"location": f"/api/measurements/{taken.id}"})


async def get_measurement(request: Request) -> Response:
    return JSONResponse(get_service(request).find(_measurement_id(request)).to_json())


async def delete_measurement(request: Request) -> Response:
    get_service(request).remove(_measurement_id(request))
    return Response(status_code=204)


# --- what was found ---


async def get_scene(request: Request) -> Response:
    return FileResponse(
        get_service(request).scene_file(_measurement_id(request)), media_type="application/json"
    )


async def get_table(request: Request) -> Response:
    """All that the page draws before anything is asked."""
    clerk, name = get_service(request), _measurement_id(request)
    version = clerk.find(
        name
    ).version  # read first: what is newer than its version is read again, never the reverse
    told = await asyncio.to_thread(scene_paths.table_json, _load_scene(request))
    return JSONResponse(
        told | {"fixes": clerk.fixes(name), "version": version}, headers=_etag_header(version)
    )


async def get_photo(request: Request) -> Response:
    """The photo as kept, or the smaller copy for screens."""
    clerk = get_service(request)
    found = clerk.find(_measurement_id(request))
    shown = clerk.store.path_of(found.id, SCREEN_PHOTO_FILE)
    size = Node(request.query_params.get("size", "shown"), "size").choice(("shown", "full"))
    whole = size == "full" or not shown.exists()
    path = clerk.store.path_of(found.id, found.arguments[0]) if whole else shown
    return FileResponse(path, headers={"cache-control": "private, max-age=86400"})


async def post_question(request: Request) -> Response:
    """Rule on a question, given as JSON."""
    question = Node.of_json(await _read_text(request, MAX_QUESTION_BYTES), "question")
    scene = _load_scene(request)
    version = get_service(request).find(_measurement_id(request)).version
    return JSONResponse(
        await asyncio.to_thread(_rule_on_question, scene, question) | {"version": version}
    )


def _rule_on_question(scene: Scene, question: Node) -> dict[str, Any]:
    return scene_paths.ruling_json(scene, ask(scene, question))


async def get_bands(request: Request) -> Response:
    """The range lines round a piece."""
    scene = _load_scene(request)
    piece = _find_piece(request, scene)
    text = request.query_params.get("lines_mm", "")
    lines = _parse_lines_mm(text) if text else scene_paths.range_lines_mm(scene)
    return JSONResponse(await asyncio.to_thread(scene_paths.band_lines_json, scene, piece, lines))


async def get_arcs(request: Request) -> Response:
    """The firing arcs of a piece."""
    scene = _load_scene(request)
    return JSONResponse(await asyncio.to_thread(arc_outlines, scene, _find_piece(request, scene)))


async def get_picture(request: Request) -> Response:
    """The annotated photo as PNG, with the ruling on `question` where one is given."""
    questions = [_query_question(request).value] if request.query_params.get("question") else []
    name = _measurement_id(request)
    for question in questions:
        ask(
            get_service(request).scene(name), question
        )  # a bad question is refused before the drawing begins
    drawn_png = await get_service(request).draw_picture(name, questions)
    headers = {"content-disposition": f'attachment; filename="overruler-{name}.png"'}
    return Response(drawn_png, media_type="image/png", headers=headers)


async def get_bundle(request: Request) -> Response:
    """The dispute bundle of the ruling on `question`."""
    name, question = _measurement_id(request), _query_question(request)
    data = await get_service(request).make_bundle(name, question.object().value)
    headers = {"content-disposition": f'attachment; filename="overruler-{name}.zip"'}
    return Response(data, media_type="application/zip", headers=headers)


async def put_fixes(request: Request) -> Response:
    """Put corrections (overruler/fix/1) in place of those before; with If-Match only of those that it names."""
    fixes = Node.of_json(await _read_text(request, MAX_FIXES_BYTES), "fixes")
    seen = request.headers.get("if-match", "*").strip()
    done = await get_service(request).apply_fixes(
        _measurement_id(request), fixes, None if seen == "*" else seen.strip('"')
    )
    return JSONResponse(done.to_json(), headers=_etag_header(done.version))


def _etag_header(version: int) -> Mapping[str, str]:
    return {"etag": f'"{version}"'}


async def get_link(request: Request) -> Response:
    """The address of a measurement for other phones, and its QR code as the path of an SVG."""
    found, state = get_service(request).find(_measurement_id(request)), request.app.state
    key = f"?key={state.door.key}" if state.door.key else ""
    return JSONResponse(lan_address.svg_qr_code(f"{state.url}m/{found.id}{key}"))


# --- what a request says ---


def _measurement_id(request: Request) -> str:
    name: str = request.path_params["id"]
    return name


def _load_scene(request: Request) -> Scene:
    return get_service(request).scene(_measurement_id(request))


def _find_piece(request: Request, scene: Scene) -> Piece:
    name = request.query_params.get("piece", "")
    found = [piece for piece in scene.pieces if piece.id == name]
    if not found:
        raise UnknownName("piece", name, (piece.id for piece in scene.pieces))
    return found[0]


def _parse_lines_mm(text: str) -> tuple[float, ...]:
    node = Node.of_json(f"[{text}]", "lines_mm")
    lines = tuple(item.positive() for item in node.items())
    if len(lines) > 20 or max(lines, default=0) > MAX_BAND_MM:
        node.fail(f"at most 20 lines of at most {MAX_BAND_MM:g} mm")
    return lines


def _query_without_key(request: Request) -> Mapping[str, str]:
    """What the query says, without the key that may come with it."""
    return {key: value for key, value in request.query_params.items() if key != "key"}


def _query_question(request: Request) -> Node:
    """The question in the query."""
    return Node.of_json(request.query_params.get("question", ""), "question").object()


async def _read_text(request: Request, most: int) -> str:
    """A body of so many bytes at most, as text."""
    found = bytearray()
    async for part in request.stream():
        found += part
        if len(found) > most:
            raise UploadRefused(f"longer than {most} bytes", 413)
    try:
        return found.decode()
    except UnicodeDecodeError:
        raise UploadRefused("is not UTF-8 text", 422) from None


def _route_by_method(path: str, **by_method: Callable[[Request], Awaitable[Response]]) -> Route:
    """One route for all the methods of a path: a refusal of any other then names them all."""

    async def answered(request: Request) -> Response:
        return await by_method["GET" if request.method == "HEAD" else request.method](request)

    return Route(path, answered, methods=list(by_method))


MEASUREMENT_PATH = "/api/measurements/{id}"
routes = [
    Route("/api/about", get_about),
    Route("/api/openapi.json", get_openapi),
    _route_by_method("/api/measurements", GET=list_newest, POST=post_photo),
    _route_by_method(MEASUREMENT_PATH, GET=get_measurement, DELETE=delete_measurement),
    Route(f"{MEASUREMENT_PATH}/again", post_again, methods=["POST"]),
    Route(f"{MEASUREMENT_PATH}/scene", get_scene),
    Route(f"{MEASUREMENT_PATH}/table", get_table),
    Route(f"{MEASUREMENT_PATH}/photo", get_photo),
    Route(f"{MEASUREMENT_PATH}/ask", post_question, methods=["POST"]),
    Route(f"{MEASUREMENT_PATH}/bands", get_bands),
    Route(f"{MEASUREMENT_PATH}/arcs", get_arcs),
    Route(f"{MEASUREMENT_PATH}/picture", get_picture),
    Route(f"{MEASUREMENT_PATH}/bundle", get_bundle),
    Route(f"{MEASUREMENT_PATH}/fixes", put_fixes, methods=["PUT"]),
    Route(f"{MEASUREMENT_PATH}/link", get_link),
]
