"""Errors of the servers and the HTTP answer to each: one table for both applications."""

from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from overruler.apps.web.guard import refusal_page, shows_pages
from overruler.errors import BadInput, OverrulerError, printable
from overruler.writing import WriteFailed


class ServerBusy(OverrulerError):
    """The queue of the server is full."""


class StoreUnavailable(OverrulerError):
    """The server's store cannot be read or written at present."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the server cannot use its store now ({reason}): try again in a moment")


class TaskFailed(OverrulerError):
    """A task ended without a result."""

    def __init__(
        self,
        message: str,
        status: int = 500,
        unmeasurable: bool = False,
        lacks_room: bool = False,
        board: str = "",
    ) -> None:
        super().__init__(message)
        self.status = status
        """HTTP status of the answer to a client that waits for the result."""
        self.board = board
        """Name of the known board whose markers lie as they do in the photo; empty where none is."""
        self.lacks_room = lacks_room
        """Whether the disk is to blame, so that the same photo can be measured later."""
        self.unmeasurable = unmeasurable
        """Whether the photo is to blame, so that another photo or a hint would help."""

    @property
    def hints(self) -> dict[str, bool | str]:
        """What clients are told beside the message."""
        fits = {"fits": self.board} if self.board else {}
        return {"unmeasurable": self.unmeasurable, **fits}


class MeasurementNotFound(OverrulerError):
    """The measurement does not exist or has no scene yet."""


class EditConflict(OverrulerError):
    """Somebody else has corrected the table since the client read it."""


class NewerPhotos(OverrulerError):
    """Somebody else adds, or has added, a photo to the table."""

    def __init__(self, message: str, after: str = "") -> None:
        super().__init__(message)
        self.after = after
        """Id of the measurement with that photo; empty while the photo is being sent."""

    @property
    def hints(self) -> dict[str, str]:
        """What clients are told beside the message."""
        return {"after": self.after} if self.after else {}


class UploadRefused(BadInput):
    """The server does not accept what was sent."""

    def __init__(self, message: str, status: int = 415) -> None:
        super().__init__(message)
        self.status = status
        """HTTP status of the answer."""


class UploadTooSlow(UploadRefused):
    """A body does not arrive."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} did not arrive in time: send it again", 408)


RETRY_AFTER_S = 5
"""After how many seconds a client that was refused for want of room should ask again."""
CLOSED_AFTER = (408, 413)
"""Statuses after which the rest of the body is not read."""
STATUS_BY_ERROR: dict[type[Exception], int] = {
    MeasurementNotFound: 404,
    NewerPhotos: 409,
    EditConflict: 412,
    ServerBusy: 503,
    StoreUnavailable: 503,
    WriteFailed: 503,
}
"""HTTP status of each error; every other `OverrulerError` is answered with 422."""


def _status_code(error: Exception) -> int:
    if isinstance(error, UploadRefused | TaskFailed):
        return error.status
    return STATUS_BY_ERROR.get(type(error), 422)


async def _answer_refusal(request: Request, error: Exception) -> Response:
    status = _status_code(error)
    if isinstance(error, WriteFailed):  # its own text names a path of the server
        error = StoreUnavailable(error.reason)
    one_line = " ".join(str(error).split())
    if status == 404 and shows_pages(request.scope, request.headers):
        return refusal_page(status, one_line)
    headers = {"connection": "close"} if status in CLOSED_AFTER else {}
    if status == 503:
        headers["retry-after"] = str(RETRY_AFTER_S)
    hints = error.hints if isinstance(error, NewerPhotos) else {}
    return JSONResponse({"error": one_line, **hints}, status, headers)


async def _answer_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 404 and shows_pages(request.scope, request.headers):
        unnamed = error.detail == HTTPStatus.NOT_FOUND.phrase  # no path of the server matched
        return refusal_page(404, "" if unnamed else error.detail)
    return JSONResponse({"error": _in_words(request, error)}, error.status_code, error.headers)


def _in_words(request: Request, error: HTTPException) -> str:
    """What is wrong, also where Starlette knows nothing but the status."""
    if error.detail != HTTPStatus(error.status_code).phrase:
        return error.detail
    if error.status_code == 405:
        allowed = (error.headers or {}).get("allow", "other methods")
        return f"{request.method} means nothing here: use {allowed}"
    return f"nothing is at {printable(request.url.path)}: see how the address is spelt"


async def _answer_nobody(request: Request, error: Exception) -> Response:
    """The client has gone while it sent: nobody reads the answer."""
    return Response(status_code=400)


async def _answer_unforeseen(request: Request, error: Exception) -> Response:
    text = "this should not have happened: the server's own output says what did"
    return JSONResponse({"error": text}, 500)


EXCEPTION_HANDLERS = {
    OverrulerError: _answer_refusal,
    HTTPException: _answer_http_error,
    ClientDisconnect: _answer_nobody,
    Exception: _answer_unforeseen,
}
"""Starlette's exception handlers, for both applications."""
