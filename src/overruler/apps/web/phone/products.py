"""What is made of a measurement for a client: a dispute bundle, a picture, advice; and the handlers."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from overruler.apps import bundles
from overruler.apps.web.phone import api
from overruler.apps.web.phone.measurements import MeasurementService
from overruler.apps.web.phone.worker_tasks import FIXES_FILE, SCENE_FILE
from overruler.rules import ask


async def make_bundle(service: MeasurementService, name: str, question: Mapping[str, Any]) -> bytes:
    """Make the dispute bundle of a ruling, with all photos of the table."""
    measurement = service.find_done(name)
    folder = service.store.path_of(name)
    optional = [file for file in bundles.OPTIONAL_FILES if (folder / file).exists()]
    names = [*measurement.photo_files, SCENE_FILE, *optional]
    files = {file: await asyncio.to_thread(service.read_file, name, file) for file in names}
    request = measurement.request
    if FIXES_FILE in files:
        request = replace(request, fix=Path(FIXES_FILE))
    arguments = request.to_arguments()
    return await asyncio.to_thread(bundles.make_bundle, files, arguments, question)


async def draw_picture(
    service: MeasurementService, name: str, questions: Sequence[Mapping[str, Any]]
) -> bytes:
    """Draw the annotated photo as PNG: of several, the one that shows the gap best."""
    measurement = service.find_done(name)
    png: bytes = await service.run_urgent_task("picture", measurement, list(questions))
    return png


async def advise_photo(
    service: MeasurementService, name: str, question: Mapping[str, Any]
) -> dict[str, Any] | None:
    """From where another photo would make a ruling surer; None where none would."""
    measurement = service.find_done(name)
    advice: dict[str, Any] | None = await service.run_urgent_task("advise", measurement, question)
    return advice


# --- handlers ---


async def get_picture(request: Request) -> Response:
    """The annotated photo as PNG, with the ruling on `question` if there is one."""
    service = api.get_service(request)
    name = api.measurement_id(request)
    questions: list[Any] = []
    if request.query_params.get("question"):
        questions.append(api.query_question(request).value)
        # refuses a bad question before anything is drawn
        await asyncio.to_thread(ask, await service.scene(name), questions[0])
    png = await draw_picture(service, name, questions)
    return Response(png, media_type="image/png", headers=_download_header(f"overruler-{name}.png"))


async def get_bundle(request: Request) -> Response:
    """The dispute bundle of the ruling on `question`."""
    name = api.measurement_id(request)
    question = api.query_question(request)
    data = await make_bundle(api.get_service(request), name, question.value)
    headers = _download_header(f"overruler-{name}.zip")
    return Response(data, media_type="application/zip", headers=headers)


def _download_header(name: str) -> Mapping[str, str]:
    return {"content-disposition": f'attachment; filename="{name}"'}


async def get_advice(request: Request) -> Response:
    """From where another photo would make the ruling on `question` surer; null where none would."""
    name, question = api.measurement_id(request), api.query_question(request)
    service = api.get_service(request)
    # refuses a bad question before a worker is asked
    await asyncio.to_thread(ask, await service.scene(name), question)
    return JSONResponse(await advise_photo(service, name, question.value))
