"""The cameras and the pieces' names of the scenes that were asked last."""

from collections.abc import Mapping
from functools import lru_cache

from overruler.apps.web.piece_names import piece_names
from overruler.calibration import CalibrationRecord
from overruler.picture.view import View
from overruler.scene import Scene

READY_SCENES = 64
"""Scenes whose cameras and pieces' names are kept: a tap asks the same scene again."""


def camera_view(scene: Scene, photo: int = 0) -> View:
    """The camera of one of the scene's photos, as the scene stores it."""
    return _ready_view(scene, photo)


@lru_cache(maxsize=READY_SCENES)
def _ready_view(scene: Scene, photo: int) -> View:
    photos = scene.extra.get("photos")
    data = photos[photo]["calibration"] if photos else scene.extra["calibration"]
    record = CalibrationRecord.from_json(data)
    return View(record.camera, record.size_px)


@lru_cache(maxsize=READY_SCENES)
def names_in(scene: Scene) -> Mapping[str, str]:
    """A different name for each piece, by its id, as the first photo shows them."""
    return piece_names(scene, camera_view(scene))
