"""Bodies of requests, read as text of a limited length in a limited time."""

import asyncio

from starlette.requests import Request

from overruler.apps.web.faults import UploadRefused, UploadTooSlow

BODY_TIMEOUT_S = 15.0
"""Time in which a text must come: the longest is of 200 kB."""


async def read_text(request: Request, max_bytes: int) -> str:
    """Read the body as UTF-8 text; refuse one that is longer than `max_bytes`, or does not come."""
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_TIMEOUT_S):
            async for part in request.stream():
                body += part
                if len(body) > max_bytes:
                    raise UploadRefused(f"longer than {max_bytes} bytes", 413)
    except TimeoutError:
        raise UploadTooSlow("the text") from None
    try:
        return body.decode()
    except UnicodeDecodeError:
        raise UploadRefused("is not UTF-8 text", 422) from None
