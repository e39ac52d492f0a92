"""Corrections of a table: one after the other, and only of what all its photos gave."""

import json

from overruler.apps.web.faults import EditConflict
from overruler.apps.web.phone.measurements import MeasurementService
from overruler.apps.web.phone.several.joining import check_is_newest
from overruler.apps.web.phone.store import Measurement
from overruler.fixes import read_fixes
from overruler.reading import Node


async def apply_fixes(
    service: MeasurementService, name: str, fixes: Node, version: str | None = None
) -> Measurement:
    """Replace the corrections of a table; change nothing if one of them cannot be made.

    `EditConflict` if `version` is given and is not the table's. `NewerPhotos` if another measurement follows it.
    """
    read_fixes(fixes)
    async with service.fix_lock(name):
        measurement = service.find_done(name)
        check_is_newest(service, name)
        if version not in (None, str(measurement.version)):
            raise EditConflict(
                "somebody else has corrected this table meanwhile: look at it again, then correct it"
            )
        found = await service.run_urgent_task("correct", measurement, json.dumps(fixes.value))
        next_version = {"version": measurement.version + 1}
        service.change_ended(measurement, {**measurement.found, **found, **next_version})
    return service.find(name)
