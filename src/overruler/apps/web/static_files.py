"""The page itself: its few files, read once and served from memory."""

import hashlib
from functools import cache
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

STATIC_FOLDER = Path(__file__).parent / "static"
MEDIA_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
}


@cache
def load_files() -> dict[str, tuple[bytes, str, str]]:
    """Each file's bytes, type and tag, by its name: no name from outside is ever looked up on the disk."""
    found = {}
    for path in sorted(STATIC_FOLDER.iterdir()):
        if path.suffix in MEDIA_TYPES:
            data = path.read_bytes()
            found[path.name] = (
                data,
                MEDIA_TYPES[path.suffix],
                f'"{hashlib.sha256(data).hexdigest()[:20]}"',
            )
    return found


def file_response(request: Request, name: str) -> Response:
    if name not in load_files():
        return Response(status_code=404)
    data, kind, tag = load_files()[name]
    headers = {"etag": tag, "cache-control": "no-cache"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(data, media_type=kind, headers=headers)


async def get_page(request: Request) -> Response:
    """The one page there is; it reads from its own address which measurement to show."""
    return file_response(request, "index.html")


async def get_static_file(request: Request) -> Response:
    return file_response(request, request.path_params["name"])


routes = [
    Route("/", get_page),
    Route("/m/{id}", get_page),
    Route("/static/{name}", get_static_file),
]
