"""Two keys: one works the desk, the other only shows what is on air."""

import hmac
from dataclasses import replace

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from overruler.apps.web.guard import AccessPolicy, Guard, presented_keys

OVERLAY_PATHS = ("/overlay", "/overlay.png", "/api/live/air", "/api/live/frozen.jpg")
"""All that the key for overlays opens; the rest of the server stays shut for it."""


class LiveGuard:
    """Stands before the live server: the guard as ever, and a second one for those who only look."""

    def __init__(self, app: ASGIApp, door: AccessPolicy, overlay_key: str | None) -> None:
        self._desk = Guard(app, door)
        self._looking = Guard(app, replace(door, key=None))
        self._key = overlay_key

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if (
            self._key is not None
            and scope["type"] in ("http", "websocket")
            and scope["path"] in OVERLAY_PATHS
        ):
            shown = presented_keys(scope, Headers(scope=scope))
            if any(hmac.compare_digest(key.encode(), self._key.encode()) for key in shown):
                await self._looking(
                    scope, receive, send
                )  # no cookie is set: it would take the desk's place
                return
        await self._desk(scope, receive, send)
