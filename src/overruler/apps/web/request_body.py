"""Bodies of requests, read as text of a limited length."""

from starlette.requests import Request

from overruler.apps.web.faults import UploadRefused


async def read_text(request: Request, max_bytes: int) -> str:
    """Read the body as UTF-8 text; refuse one that is longer than `max_bytes`."""
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > max_bytes:
            raise UploadRefused(f"longer than {max_bytes} bytes", 413)
    try:
        return body.decode()
    except UnicodeDecodeError:
        raise UploadRefused("is not UTF-8 text", 422) from None
