"""Who may talk to the server: by name (Host), from where (Origin), with which key, and how much at once.

A page on another site cannot read from it or act on it (Origin, Fetch metadata), nor can one whose name was turned to
this machine's address (DNS rebinding: Host). On a network the key, which is in the address that the server prints,
is exchanged for a cookie; programs send it as `Authorization: Bearer KEY`.
"""

import hmac
from collections.abc import Iterable
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

KEY_COOKIE = "overruler_key"
COOKIE_LIFETIME_S = 30 * 86_400
SAFE_METHODS = ("GET", "HEAD")
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
    "font-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
SECURITY_HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}
PUBLIC_PATHS = ("/static/",)
"""What carries no secret: the page's own files."""


@dataclass(frozen=True, slots=True)
class AccessPolicy:
    """Whom the server lets in."""

    hosts: frozenset[str]
    """The names it answers to, without ports."""
    key: str | None = None
    """None where only this machine can reach it."""


class Guard:
    """Stands before the whole application."""

    def __init__(self, app: ASGIApp, door: AccessPolicy) -> None:
        self._app = app
        self._door = door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refusal = self._find_refusal(scope, headers)
        if refusal is None:
            await self._app(scope, receive, self._add_headers(scope, send))
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008, "reason": "refused"})
        else:
            await refusal(scope, receive, self._add_headers(scope, send))

    def _find_refusal(self, scope: Scope, headers: Headers) -> Response | None:
        if len(headers.getlist("host")) != 1 or _host_name(headers["host"]) not in self._door.hosts:
            return _error_response(
                421, "this server does not go by that name (Host): use the address that it printed"
            )
        if not _is_same_origin(scope, headers):
            return _error_response(403, "a page of another site asked for this (Origin): refused")
        if not self._has_key(scope, headers) and not scope["path"].startswith(PUBLIC_PATHS):
            return _error_response(
                401, "the key is missing or wrong: scan the code on the computer's screen again"
            )
        return None

    # --- the key ---

    def _has_key(self, scope: Scope, headers: Headers) -> bool:
        wanted = self._door.key
        return wanted is None or any(
            hmac.compare_digest(key.encode(), wanted.encode())
            for key in presented_keys(scope, headers)
        )

    def _add_headers(self, scope: Scope, send: Send) -> Send:
        """Adds the headers that every answer has, and the cookie where the key came in the address."""
        fresh = self._door.key is not None and self._door.key in _keys_in_query(scope)

        async def marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in SECURITY_HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("cache-control", "no-store")
                if fresh:
                    headers.append(
                        "set-cookie", _key_cookie(self._door.key or "", scope["scheme"] == "https")
                    )
            await send(message)

        return marked


def _error_response(status: int, text: str) -> Response:
    return JSONResponse({"error": text}, status)


def _host_name(host: str) -> str:
    """A Host header's name: without the port, in lower case; brackets stay round an IPv6 address."""
    name, colon, port = host.strip().lower().rpartition(":")
    return name if colon and port.isdecimal() else host.strip().lower()


def _is_same_origin(scope: Scope, headers: Headers) -> bool:
    """Whether a request comes from the server's own page or from no page at all."""
    origin = headers.get("origin")
    if origin is not None:
        return urlsplit(origin).netloc.lower() == headers["host"].strip().lower()
    site = headers.get("sec-fetch-site", "none")
    walked_in = (
        scope["type"] == "http"
        and scope["method"] in SAFE_METHODS
        and headers.get("sec-fetch-mode") == "navigate"
    )
    return site in ("none", "same-origin") or walked_in


def presented_keys(scope: Scope, headers: Headers) -> Iterable[str]:
    """Every key that a request shows."""
    yield from _keys_in_query(scope)
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        yield token.strip()
    try:
        jar = SimpleCookie(headers.get("cookie", ""))
    except CookieError:
        return
    if KEY_COOKIE in jar:
        yield jar[KEY_COOKIE].value


def _keys_in_query(scope: Scope) -> list[str]:
    return parse_qs(scope["query_string"].decode("latin-1")).get("key", [])


def _key_cookie(key: str, secure: bool) -> str:
    secured = "; Secure" if secure else ""
    return f"{KEY_COOKIE}={key}; Path=/; Max-Age={COOKIE_LIFETIME_S}; HttpOnly; SameSite=Strict{secured}"
