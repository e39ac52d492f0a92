"""The handlers of the API that are about several photos of one table."""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from overruler.apps.web.phone import api
from overruler.apps.web.phone.several import joining


async def post_added_photo(request: Request) -> Response:
    """Measure a table anew with one photo more."""
    name = api.measurement_id(request)
    return await api.receive_body(
        request, lambda service, body: joining.add_photo(service, name, body)
    )


async def delete_added_photo(request: Request) -> Response:
    """Go back to the table without the photo that was added last."""
    before = joining.take_out_photo(api.get_service(request), api.measurement_id(request))
    return JSONResponse(before.to_json())
