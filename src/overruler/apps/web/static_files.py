"""The page's own files, read once and served from memory."""

import gzip
import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

STATIC_FOLDER = Path(__file__).parent / "static"
"""Folder of the files that are served."""
MEDIA_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
    ".png": "image/png",
    ".webmanifest": "application/manifest+json",
}
"""Media type by the ending of a file's name; other files are not served."""
PACKED_ENDINGS = (".html", ".css", ".js", ".svg", ".webmanifest")
"""Endings of the files that are sent packed: text, to a half or a third of its size."""


@dataclass(frozen=True, slots=True)
class StaticFile:
    """One file of the page."""

    content: bytes
    packed: bytes
    """The same packed by gzip; empty where that does not pay."""
    media_type: str
    etag: str
    """Hash of the content, in quotes as the ETag header has it."""


@cache
def load_files() -> dict[str, StaticFile]:
    """Read every file, by its name: no name from a request ever reaches the disk."""
    files = {}
    for path in sorted(STATIC_FOLDER.iterdir()):
        if path.suffix in MEDIA_TYPES:
            content = path.read_bytes()
            etag = f'"{hashlib.sha256(content).hexdigest()[:20]}"'
            packed = gzip.compress(content, mtime=0) if path.suffix in PACKED_ENDINGS else b""
            files[path.name] = StaticFile(content, packed, MEDIA_TYPES[path.suffix], etag)
    return files


def file_response(request: Request, name: str) -> Response:
    """Answer with a file, or with 304 if the client has it; a 404 where there is none."""
    file = load_files().get(name)
    if file is None:
        raise HTTPException(404, "there is no such file")
    headers = {"etag": file.etag, "cache-control": "no-cache", "vary": "accept-encoding"}
    if request.headers.get("if-none-match") == file.etag:
        return Response(status_code=304, headers=headers)
    if file.packed and "gzip" in request.headers.get("accept-encoding", ""):
        headers["content-encoding"] = "gzip"
        return Response(file.packed, media_type=file.media_type, headers=headers)
    return Response(file.content, media_type=file.media_type, headers=headers)


async def get_page(request: Request) -> Response:
    """Answer with the page, which reads the measurement to show from its own address."""
    return file_response(request, "index.html")


async def get_static_file(request: Request) -> Response:
    return file_response(request, request.path_params["name"])


routes = [
    Route("/", get_page),
    Route("/m/{id}", get_page),
    Route("/static/{name}", get_static_file),
]
