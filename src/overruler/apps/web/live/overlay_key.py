"""Two keys of the live server: one opens everything, the other only the overlay."""

from dataclasses import replace

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from overruler.apps.web.guard import AccessPolicy, Guard, shows_key

OVERLAY_PATHS = ("/overlay", "/overlay.png", "/api/live/air", "/api/live/frozen.jpg")
"""All paths that the overlay's key opens."""


class LiveGuard:
    """ASGI middleware: the server's guard, and one without a key for the overlay."""

    __slots__ = ("_guard", "_keyless_guard", "_overlay_key")

    def __init__(self, app: ASGIApp, policy: AccessPolicy, overlay_key: str | None) -> None:
        self._guard = Guard(app, policy)
        self._keyless_guard = Guard(app, replace(policy, key=None))
        self._overlay_key = overlay_key

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._is_overlay(scope):
            # sets no cookie, which would replace the control page's
            await self._keyless_guard(scope, receive, send)
        else:
            await self._guard(scope, receive, send)

    def _is_overlay(self, scope: Scope) -> bool:
        """Whether a request asks for a path of the overlay with the overlay's key."""
        if self._overlay_key is None or scope["type"] not in ("http", "websocket"):
            return False
        if scope["path"] not in OVERLAY_PATHS:
            return False
        return shows_key(scope, Headers(scope=scope), self._overlay_key)
