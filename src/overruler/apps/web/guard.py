"""Access control: the server's names (Host), the page's origin (Origin) and the key.

The guard refuses requests by pages of other sites (Origin, Fetch metadata). It also refuses names
that were pointed at this machine's address (DNS rebinding: Host). On a network, the server prints
an address with a key; the guard exchanges that key for a cookie. Programs send the key as
`Authorization: Bearer KEY`.
"""

import hmac
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from http.cookies import CookieError, SimpleCookie
from string import Template
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from overruler.apps.web.static_files import load_files

KEY_COOKIE = "overruler_key"
"""Name of the cookie that holds the key."""
COOKIE_LIFETIME_S = 30 * 86_400
"""Lifetime of the cookie, in seconds."""
SAFE_METHODS = ("GET", "HEAD")
"""Methods that another site may link to."""
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
    "font-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Content-Security-Policy of every answer: nothing from elsewhere, nothing inline."""
SECURITY_HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}
"""Headers of every answer."""
PUBLIC_PATHS = ("/static/", "/api/health")
"""Path prefixes that need no key: the page's own files hold no secret, nor does the server's health."""


class RefusalWords(NamedTuple):
    """What a page says to a person whose request is refused."""

    title: str
    reason: str
    remedy: str


REFUSALS = {
    401: RefusalWords(
        "The key is missing",
        "Scan the code on the computer's screen again: it holds the key.",
        "The computer makes a new key each time it starts, so an older link no longer opens. Somebody "
        "whose page works can show you the code: More, then “Show the link as a code”.",
    ),
    403: RefusalWords(
        "Refused",
        "A page of another site asked for this.",
        "Type the address that the computer printed, or scan its code.",
    ),
    404: RefusalWords(
        "Nothing is here",
        "There is no such page, or its table was removed or its time was up.",
        "Open the address that the computer printed, or scan its code.",
    ),
    421: RefusalWords(
        "Not this address",
        "The computer does not go by this name.",
        "Open the address that the computer printed, or scan its code.",
    ),
}
"""The words of the page by the status of the refusal."""


@dataclass(frozen=True, slots=True)
class AccessPolicy:
    """Conditions under which the server answers."""

    hosts: frozenset[str]
    """Names that the server answers to, without ports."""
    key: str | None = None
    """The key that clients must show; None if only this machine can reach the server."""


class Guard:
    """ASGI middleware that checks every request before the application sees it."""

    __slots__ = ("_app", "_policy")

    def __init__(self, app: ASGIApp, policy: AccessPolicy) -> None:
        self._app = app
        self._policy = policy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        refusal = self._find_refusal(scope, Headers(scope=scope))
        if refusal is None:
            shown = _keys_in_query(scope) if self._policy.key is not None else ()
            came_by_link = any(_is_key(one, self._policy.key or "") for one in shown)
            await self._app(scope, receive, self._add_headers(scope, send, came_by_link))
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008, "reason": "refused"})
        else:
            if shows_pages(scope, Headers(scope=scope)):
                refusal = refusal_page(refusal.status_code)
            await refusal(scope, receive, self._add_headers(scope, send, sets_cookie=False))

    def _find_refusal(self, scope: Scope, headers: Headers) -> Response | None:
        if not self._is_own_name(headers):
            return _error_response(
                421, "this server does not go by that name (Host): use the address that it printed"
            )
        if not _is_same_origin(scope, headers):
            return _error_response(403, "a page of another site asked for this (Origin): refused")
        if not scope["path"].startswith(PUBLIC_PATHS) and not self._has_key(scope, headers):
            return _error_response(
                401, "the key is missing or wrong: scan the code on the computer's screen again"
            )
        return None

    def _is_own_name(self, headers: Headers) -> bool:
        if len(headers.getlist("host")) != 1:
            return False
        return _host_name(headers["host"]) in self._policy.hosts

    def _has_key(self, scope: Scope, headers: Headers) -> bool:
        key = self._policy.key
        return key is None or shows_key(scope, headers, key)

    def _add_headers(self, scope: Scope, send: Send, sets_cookie: bool) -> Send:
        """Return a `send` that adds the common headers, and the cookie of the key where it is due."""
        key = self._policy.key

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in SECURITY_HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("cache-control", "no-store")
                if sets_cookie:
                    headers.append("set-cookie", _key_cookie(key or "", scope["scheme"] == "https"))
            await send(message)

        return send_with_headers


def shows_pages(scope: Scope, headers: Headers) -> bool:
    """Whether a person looks at the answer."""
    return scope["method"] in SAFE_METHODS and "text/html" in headers.get("accept", "")


def refusal_page(status: int, reason: str = "") -> Response:
    """A refusal with one of the statuses of `REFUSALS` as a page that says why, and what to do.

    `reason` is the line that programs are told; without it the page gives that of `REFUSALS`.
    """
    page = load_files()["refused.html"]
    words = REFUSALS[status]
    shown = words._replace(reason=escape(reason or words.reason))
    text = Template(page.content.decode()).substitute(shown._asdict())
    return Response(text, status, media_type=page.media_type)


def _error_response(status: int, text: str) -> Response:
    return JSONResponse({"error": text}, status)


def _host_name(host: str) -> str:
    """Name in a Host header, in lower case and without the port; an IPv6 address keeps its brackets."""
    host = host.strip().lower()
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdecimal() else host


def _is_same_origin(scope: Scope, headers: Headers) -> bool:
    """Whether a request comes from the server's own page or from no page."""
    origin = headers.get("origin")
    if origin is not None:
        return urlsplit(origin).netloc.lower() == headers["host"].strip().lower()
    site = headers.get("sec-fetch-site", "none")
    return site in ("none", "same-origin") or _is_navigation(scope, headers)


def _is_navigation(scope: Scope, headers: Headers) -> bool:
    """Whether a person follows a link to the server."""
    return (
        scope["type"] == "http"
        and scope["method"] in SAFE_METHODS
        and headers.get("sec-fetch-mode") == "navigate"
    )


def shows_key(scope: Scope, headers: Headers, key: str) -> bool:
    """Whether a request shows a key."""
    return any(_is_key(shown, key) for shown in presented_keys(scope, headers))


def _is_key(shown: str, key: str) -> bool:
    """Whether the two are the same; it takes the same time for every wrong key."""
    return hmac.compare_digest(shown.encode(), key.encode())


def presented_keys(scope: Scope, headers: Headers) -> Iterable[str]:
    """Yield every key in a request: in its address, its Authorization header and its cookie."""
    yield from _keys_in_query(scope)
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        yield token.strip()
    try:
        cookies = SimpleCookie(headers.get("cookie", ""))
    except CookieError:
        return
    if KEY_COOKIE in cookies:
        yield cookies[KEY_COOKIE].value


def _keys_in_query(scope: Scope) -> list[str]:
    return parse_qs(scope["query_string"].decode("latin-1")).get("key", [])


def _key_cookie(key: str, secure: bool) -> str:
    attributes = f"Path=/; Max-Age={COOKIE_LIFETIME_S}; HttpOnly; SameSite=Strict"
    return f"{KEY_COOKIE}={key}; {attributes}" + ("; Secure" if secure else "")
