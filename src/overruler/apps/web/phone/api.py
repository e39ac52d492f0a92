"""What programs and the page ask of the server: JSON over HTTP, under /api. `openapi` describes it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

from overruler import __version__
from overruler.apps.web import scene_paths
from overruler.apps.web.faults import Refused
from overruler.apps.web.phone import lan_address, openapi
from overruler.apps.web.phone.measurements import Clerk, too_long
from overruler.apps.web.phone.request_options import wish
from overruler.apps.web.phone.worker_tasks import SHOWN
from overruler.apps.web.quick_questions import arcs, games
from overruler.errors import OverrulerError, UnknownName
from overruler.reading import Node
from overruler.rules import ask
from overruler.scene import Piece, Scene

NEWEST = 30
LONGEST_QUESTION = 20_000
"""Bytes."""
LONGEST_FIXES = 200_000
MOST_DRAINED = 500_000_000
LONGEST_DRAINED_S = 30.0
LONGEST_BANDS_MM = 5000.0


def clerk_of(request: HTTPConnection) -> Clerk:
    clerk: Clerk = request.app.state.clerk
    return clerk


# --- the server ---


async def about(request: Request) -> Response:
    clerk = clerk_of(request)
    return JSONResponse(
        {
            "version": __version__,
            "games": games(),
            "tables": list(clerk.choices.boards),
            "lenses": list(clerk.choices.lenses),
            "most_bytes": clerk.most_bytes,
            "keep_days": request.app.state.keep_days,
        }
    )


async def described(request: Request) -> Response:
    return JSONResponse(openapi.document(clerk_of(request).choices))


# --- measurements ---


async def newest(request: Request) -> Response:
    return JSONResponse([found.to_json() for found in clerk_of(request).store.newest(NEWEST)])


async def take_in(request: Request) -> Response:
    body = request.stream()
    try:
        return await _taken_in(request, body)
    except OverrulerError:
        await _drained(body)
        raise


async def _drained(body: AsyncIterator[bytes]) -> None:
    """Let the rest of a refused body come and go: who is cut off while sending never reads why."""
    left = MOST_DRAINED
    try:
        async with asyncio.timeout(LONGEST_DRAINED_S):
            async for part in body:
                left -= len(part)
                if left < 0:
                    return
    except (TimeoutError, ClientDisconnect):
        return


async def _taken_in(request: Request, body: AsyncIterator[bytes]) -> Response:
    clerk = clerk_of(request)
    length = request.headers.get("content-length", "0")
    if length.isdecimal() and int(length) > clerk.most_bytes:
        raise too_long(clerk.most_bytes)
    asked = wish(_said(request), clerk.choices)
    taken = await clerk.take_in(body, asked)
    return JSONResponse(taken.to_json(), 202, {"location": f"/api/measurements/{taken.id}"})


async def again(request: Request) -> Response:
    clerk = clerk_of(request)
    taken = await clerk.again(clerk.find(_id(request)), wish(_said(request), clerk.choices))
    return JSONResponse(taken.to_json(), 202, {"location": f"/api/measurements/{taken.id}"})


async def one(request: Request) -> Response:
    return JSONResponse(clerk_of(request).find(_id(request)).to_json())


async def remove(request: Request) -> Response:
    clerk_of(request).remove(_id(request))
    return Response(status_code=204)


# --- what was found ---


async def scene(request: Request) -> Response:
    return FileResponse(clerk_of(request).scene_file(_id(request)), media_type="application/json")


async def table(request: Request) -> Response:
    """All that the page draws before anything is asked."""
    clerk, name = clerk_of(request), _id(request)
    version = clerk.find(name).version  # read first: what is newer than its version is read again, never the reverse
    told = await asyncio.to_thread(scene_paths.table, _scene(request))
    return JSONResponse(told | {"fixes": clerk.fixes(name), "version": version}, headers=_tagged(version))


async def photo(request: Request) -> Response:
    """The photo as kept, or the smaller copy for screens."""
    clerk = clerk_of(request)
    found = clerk.find(_id(request))
    shown = clerk.store.place(found.id, SHOWN)
    size = Node(request.query_params.get("size", "shown"), "size").choice(("shown", "full"))
    whole = size == "full" or not shown.exists()
    path = clerk.store.place(found.id, found.arguments[0]) if whole else shown
    return FileResponse(path, headers={"cache-control": "private, max-age=86400"})


async def answer(request: Request) -> Response:
    """Rule on a question, given as JSON."""
    question = Node.of_json(await _text(request, LONGEST_QUESTION), "question")
    scene = _scene(request)
    version = clerk_of(request).find(_id(request)).version
    return JSONResponse(await asyncio.to_thread(_ruled, scene, question) | {"version": version})


def _ruled(scene: Scene, question: Node) -> dict[str, Any]:
    return scene_paths.ruling(scene, ask(scene, question))


async def bands(request: Request) -> Response:
    """The range lines round a piece."""
    scene = _scene(request)
    piece = _piece(request, scene)
    text = request.query_params.get("lines_mm", "")
    lines = _lines(text) if text else scene_paths.lines_of(scene)
    return JSONResponse(await asyncio.to_thread(scene_paths.bands, scene, piece, lines))


async def arcs_of(request: Request) -> Response:
    """The firing arcs of a piece."""
    scene = _scene(request)
    return JSONResponse(await asyncio.to_thread(arcs, scene, _piece(request, scene)))


async def picture(request: Request) -> Response:
    """The annotated photo as PNG, with the ruling on `question` where one is given."""
    questions = [_asked(request).value] if request.query_params.get("question") else []
    name = _id(request)
    for question in questions:
        ask(clerk_of(request).scene(name), question)  # a bad question is refused before the drawing begins
    drawn_png = await clerk_of(request).picture(name, questions)
    headers = {"content-disposition": f'attachment; filename="overruler-{name}.png"'}
    return Response(drawn_png, media_type="image/png", headers=headers)


async def bundle(request: Request) -> Response:
    """The dispute bundle of the ruling on `question`."""
    name, question = _id(request), _asked(request)
    data = await clerk_of(request).bundle(name, question.object().value)
    headers = {"content-disposition": f'attachment; filename="overruler-{name}.zip"'}
    return Response(data, media_type="application/zip", headers=headers)


async def correct(request: Request) -> Response:
    """Put corrections (overruler/fix/1) in place of those before; with If-Match only of those that it names."""
    fixes = Node.of_json(await _text(request, LONGEST_FIXES), "fixes")
    seen = request.headers.get("if-match", "*").strip()
    done = await clerk_of(request).correct(_id(request), fixes, None if seen == "*" else seen.strip('"'))
    return JSONResponse(done.to_json(), headers=_tagged(done.version))


def _tagged(version: int) -> Mapping[str, str]:
    return {"etag": f'"{version}"'}


async def link(request: Request) -> Response:
    """The address of a measurement for other phones, and its QR code as the path of an SVG."""
    found, state = clerk_of(request).find(_id(request)), request.app.state
    key = f"?key={state.door.key}" if state.door.key else ""
    return JSONResponse(lan_address.drawn(f"{state.url}m/{found.id}{key}"))


# --- what a request says ---


def _id(request: Request) -> str:
    name: str = request.path_params["id"]
    return name


def _scene(request: Request) -> Scene:
    return clerk_of(request).scene(_id(request))


def _piece(request: Request, scene: Scene) -> Piece:
    name = request.query_params.get("piece", "")
    found = [piece for piece in scene.pieces if piece.id == name]
    if not found:
        raise UnknownName("piece", name, (piece.id for piece in scene.pieces))
    return found[0]


def _lines(text: str) -> tuple[float, ...]:
    node = Node.of_json(f"[{text}]", "lines_mm")
    lines = tuple(item.positive() for item in node.items())
    if len(lines) > 20 or max(lines, default=0) > LONGEST_BANDS_MM:
        node.fail(f"at most 20 lines of at most {LONGEST_BANDS_MM:g} mm")
    return lines


def _said(request: Request) -> Mapping[str, str]:
    """What the query says, without the key that may come with it."""
    return {key: value for key, value in request.query_params.items() if key != "key"}


def _asked(request: Request) -> Node:
    """The question in the query."""
    return Node.of_json(request.query_params.get("question", ""), "question").object()


async def _text(request: Request, most: int) -> str:
    """A body of so many bytes at most, as text."""
    found = bytearray()
    async for part in request.stream():
        found += part
        if len(found) > most:
            raise Refused(f"longer than {most} bytes", 413)
    try:
        return found.decode()
    except UnicodeDecodeError:
        raise Refused("is not UTF-8 text", 422) from None


def _either(path: str, **by_method: Callable[[Request], Awaitable[Response]]) -> Route:
    """One route for all the methods of a path: a refusal of any other then names them all."""

    async def answered(request: Request) -> Response:
        return await by_method["GET" if request.method == "HEAD" else request.method](request)

    return Route(path, answered, methods=list(by_method))


ONE = "/api/measurements/{id}"
routes = [
    Route("/api/about", about),
    Route("/api/openapi.json", described),
    _either("/api/measurements", GET=newest, POST=take_in),
    _either(ONE, GET=one, DELETE=remove),
    Route(f"{ONE}/again", again, methods=["POST"]),
    Route(f"{ONE}/scene", scene),
    Route(f"{ONE}/table", table),
    Route(f"{ONE}/photo", photo),
    Route(f"{ONE}/ask", answer, methods=["POST"]),
    Route(f"{ONE}/bands", bands),
    Route(f"{ONE}/arcs", arcs_of),
    Route(f"{ONE}/picture", picture),
    Route(f"{ONE}/bundle", bundle),
    Route(f"{ONE}/fixes", correct, methods=["PUT"]),
    Route(f"{ONE}/link", link),
]
