"""The OpenAPI document describes every route of the application under /api, and no other."""

from starlette.routing import Route

from overruler.apps.web.openapi_words import SCHEMAS
from overruler.apps.web.phone.app import ROUTES
from overruler.apps.web.phone.endpoints import openapi_document
from overruler.apps.web.phone.request_options import QUERY_KEYS


def test_every_route_is_described_and_no_other() -> None:
    there = {
        (route.path, method.lower())
        for route in ROUTES
        if isinstance(route, Route) and route.path.startswith("/api/")
        for method in (route.methods or set()) - {"HEAD"}
    }
    told = {
        (path, method)
        for path, item in openapi_document()["paths"].items()
        for method in item
        if method != "parameters"
    }
    assert there == told


def test_every_schema_that_is_named_exists() -> None:
    text = str(openapi_document())
    named = {part.split("'")[0] for part in text.split("#/components/schemas/")[1:]}
    assert named <= set(SCHEMAS)


def test_every_wish_is_described() -> None:
    told = openapi_document()["paths"]["/api/measurements"]["post"]["parameters"]
    assert {parameter["name"] for parameter in told} == set(QUERY_KEYS)
