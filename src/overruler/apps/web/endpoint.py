"""The route table: one record for each operation makes its route and its OpenAPI description."""

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from overruler import __version__
from overruler.apps.web.openapi_words import TEXT, Json, json_content, schema_ref

Handler = Callable[[Request], Awaitable[Response]]

COMMON_REFUSALS = (401, 403, 421)
"""Statuses with which the guard refuses any operation."""
REFUSAL_TEXTS = {
    401: "The key is missing or wrong.",
    403: "A page of another site asked.",
    404: "There is no such measurement, or nothing of it yet.",
    408: "The body did not arrive in time.",
    409: "A photo was added to the table, or is being added; `after` names the measurement to go on with.",
    412: "Somebody else has corrected the table since the version that If-Match names.",
    413: "Too large.",
    415: "Not a photo.",
    421: "Not the name that the server goes by.",
    422: "Something in the request makes no sense; the error says what.",
    500: "The photo came to nothing for a reason of the server's own.",
    503: "Too much is waiting, or the disk or a process fails now; `Retry-After` says when to ask again.",
}
"""What each status of a refusal means."""
_PATH_PARAMETER = re.compile(r"{(\w+)}")


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of an operation."""

    name: str
    schema: Json
    """JSON Schema of its value."""
    required: bool = False
    location: str = "query"
    """`query`, `header` or `path`."""
    is_json: bool = False
    """Whether the value is JSON text; `schema` then describes the JSON."""
    description: str = ""

    def to_openapi(self) -> Json:
        shown: Json = {"name": self.name, "in": self.location, "required": self.required}
        if self.description:
            shown["description"] = self.description
        value = json_content(self.schema) if self.is_json else {"schema": self.schema}
        return shown | value


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One operation of an HTTP API."""

    method: str
    path: str
    """With its path parameters in braces: `/api/measurements/{id}`."""
    handler: Handler
    summary: str
    response: Json
    """OpenAPI content of the answer; empty if it has no body."""
    refusals: tuple[int, ...] = ()
    """Statuses of its refusals besides `COMMON_REFUSALS`."""
    parameters: tuple[Parameter, ...] = ()
    """Its parameters besides those in the path."""
    body: Json | None = None
    """OpenAPI content of the request's body; None if it has none."""
    status: int = 200
    """Status of the answer."""

    def to_openapi(self) -> Json:
        """The operation object of the OpenAPI document."""
        responses = {str(self.status): {"description": self.summary, **self.response}}
        for status in (*COMMON_REFUSALS, *self.refusals):
            error = json_content(schema_ref("Error"))
            responses[str(status)] = {"description": REFUSAL_TEXTS[status], **error}
        operation: Json = {"summary": self.summary, "responses": responses}
        if self.parameters:
            operation["parameters"] = [each.to_openapi() for each in self.parameters]
        if self.body is not None:
            operation["requestBody"] = {"required": True, **self.body}
        return operation


# --- Starlette ---


def starlette_routes(endpoints: Iterable[Endpoint]) -> list[Route]:
    """Make one route for each path, so that a refusal of a method names all the others."""
    by_path: dict[str, dict[str, Handler]] = {}
    for endpoint in endpoints:
        by_path.setdefault(endpoint.path, {})[endpoint.method] = endpoint.handler
    return [_route(path, handlers) for path, handlers in by_path.items()]


def _route(path: str, handlers: Mapping[str, Handler]) -> Route:
    async def dispatch(request: Request) -> Response:
        method = "GET" if request.method == "HEAD" else request.method
        return await handlers[method](request)

    return Route(path, dispatch, methods=list(handlers))


# --- OpenAPI ---


def openapi_of(
    title: str, description: str, endpoints: Iterable[Endpoint], schemas: Mapping[str, Json]
) -> Json:
    """Make the OpenAPI document of a route table."""
    key = {
        "type": "http",
        "scheme": "bearer",
        "description": "The key in the address; with --lan only.",
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": title, "version": __version__, "description": description},
        "paths": _openapi_paths(endpoints),
        "components": {"schemas": dict(schemas), "securitySchemes": {"key": key}},
        "security": [{}, {"key": []}],
    }


def _openapi_paths(endpoints: Iterable[Endpoint]) -> Json:
    paths: Json = {}
    for endpoint in endpoints:
        item = paths.setdefault(endpoint.path, _path_parameters(endpoint.path))
        item[endpoint.method.lower()] = endpoint.to_openapi()
    return paths


def _path_parameters(path: str) -> Json:
    names = _PATH_PARAMETER.findall(path)
    found = [Parameter(name, TEXT, required=True, location="path") for name in names]
    return {"parameters": [each.to_openapi() for each in found]} if found else {}
