"""What can go wrong on a server, and the answer that says so: one table for every application here."""

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from overruler.errors import BadInput, OverrulerError


class ServerBusy(OverrulerError):
    """More is waiting than the server takes."""


class TaskFailed(OverrulerError):
    """A task that came to nothing; `unmeasurable` where the photo is to blame and another or a hint would help."""

    def __init__(self, message: str, unmeasurable: bool = False) -> None:
        super().__init__(message)
        self.unmeasurable = unmeasurable


class MeasurementNotFound(OverrulerError):
    """There is no such measurement, or nothing of it yet."""


class EditConflict(OverrulerError):
    """Somebody else has corrected the table since it was read."""


class UploadRefused(BadInput):
    """Something that was sent and will not be kept; `status` is that of the answer."""

    def __init__(self, message: str, status: int = 415) -> None:
        super().__init__(message)
        self.status = status


async def _answer_refusal(request: Request, error: Exception) -> Response:
    text = " ".join(str(error).split())
    return JSONResponse(
        {"error": text},
        _status_code(error),
        {"connection": "close"} if _status_code(error) == 413 else None,
    )


async def _answer_unforeseen(request: Request, error: Exception) -> Response:
    return JSONResponse(
        {"error": "this should not have happened: the server's own output says what did"}, 500
    )


async def _answer_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": error.detail}, error.status_code, error.headers)


def _status_code(error: Exception) -> int:
    if isinstance(error, UploadRefused):
        return error.status
    return {MeasurementNotFound: 404, EditConflict: 412, ServerBusy: 503, TaskFailed: 500}.get(
        type(error), 422
    )


EXCEPTION_HANDLERS = {
    OverrulerError: _answer_refusal,
    HTTPException: _answer_http_error,
    Exception: _answer_unforeseen,
}
"""What is answered when something goes wrong, for every application here."""
