"""Cameras that do not go with the others: over another table, or in the same place."""

from collections.abc import Sequence

from overruler.errors import CannotMeasure
from overruler.vision.fusion.fuse import FusedTable
from overruler.vision.fusion.same_table import check_same_table, is_same_view
from overruler.vision.pairing.sighting import SeenPhoto


def find_misfits(fused: FusedTable, photos: Sequence[SeenPhoto]) -> dict[int, str]:
    """Why cameras do not go with the first ones, by the cameras' numbers."""
    found: dict[int, str] = {}
    for number, photo in enumerate(photos):
        before = [one for one in photos[:number] if one.index not in found]
        same = next((one for one in before if is_same_view(one, photo)), None)
        if same is not None:
            found[photo.index] = (
                f"{photo.frame.name} films from the same place as {same.frame.name}"
            )
        elif before:
            try:
                check_same_table(fused, [before[0], photo])
            except CannotMeasure as error:
                found[photo.index] = str(error)
    return found
