"""What pages show of a table that several photos were taken of."""

import re
from typing import Any

from overruler.apps.bundles import PHOTO_ENDINGS
from overruler.apps.web.close_up import close_up_json
from overruler.apps.web.faults import MeasurementNotFound
from overruler.apps.web.ready_scenes import camera_view, names_in
from overruler.picture.drawable_ruling import drawable_ruling
from overruler.picture.view import View
from overruler.reading import Node
from overruler.records import MovedRecord
from overruler.report import MAX_PHOTOS
from overruler.scene import Scene
from overruler.units import format_count
from overruler.verdict import Verdict

PHOTO_NAME_PATTERN = re.compile(rf"\b(photo)(\d*)\.(?:{'|'.join(PHOTO_ENDINGS)})\b", re.IGNORECASE)
"""A photo's name as the server gives it, `photo.jpg` or `photo2.jpg`; it may begin a sentence."""

PHOTO_INDICES = tuple(map(str, range(MAX_PHOTOS)))
"""What a client may say of which photo of a scene to draw on."""


def count_photos(scene: Scene) -> int:
    """How many photos the scene was measured in."""
    return len(scene.extra.get("photos", ())) or 1


def photo_index(node: Node, scene: Scene) -> int:
    """The index of a photo that a client names; `MeasurementNotFound` where the scene has none such."""
    index, count = int(node.choice(PHOTO_INDICES)), count_photos(scene)
    if index >= count:
        counted = f"{format_count(count, 'photo')}, counted from 0"
        raise MeasurementNotFound(f"photo={index}: this table has {counted}")
    return index


def camera_views(scene: Scene) -> list[View]:
    """The cameras of all photos of the scene."""
    return [camera_view(scene, photo) for photo in range(count_photos(scene))]


def photos_json(scene: Scene, photo: int) -> dict[str, Any]:
    """The photos, the one that is shown, and what stands elsewhere in one of them."""
    files = [entry["file"] for entry in scene.extra.get("photos", ())] or [""]
    pairs = zip(files, camera_views(scene), strict=True)
    listed = [{"number": photo_number(file), "size_px": list(view.size_px)} for file, view in pairs]
    names = names_in(scene)
    moved = [
        {"id": one.id, "name": names.get(one.id, one.id), "photo": one.photo}
        for one in MovedRecord.all_in(scene.extra)
    ]
    return {"photos": listed, "photo": photo, "moved": moved}


def photo_number(file: str) -> int:
    """The number of a photo among those that were sent, by its name."""
    found = PHOTO_NAME_PATTERN.search(file)
    return int(found[2] or 1) if found else 1


def with_photo_numbers(text: str) -> str:
    """A sentence that names photos by their numbers, as the page does, not by the server's files."""
    return PHOTO_NAME_PATTERN.sub(lambda name: f"{name[1]} {name[2] or 1}", text)


def close_up_of(scene: Scene, verdict: Verdict) -> dict[str, Any]:
    """The gap of a ruling from near, as `close_up`; nothing where it has none."""
    if not (verdict.from_point_mm and verdict.to_point_mm):
        return {}
    return {"close_up": close_up_json(camera_views(scene), drawable_ruling(scene, verdict))}
