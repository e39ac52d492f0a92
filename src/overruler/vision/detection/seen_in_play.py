"""What the networks for tables in play see of a photo, kept for the steps that ask for it."""

from functools import lru_cache

from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.vision.imaging.orthophoto import Orthophoto
from overruler.vision.learned.disc_net import Discs, find_discs
from overruler.vision.learned.patches import photo_pyramid
from overruler.vision.learned.shapes_in_play import SeenShapes, find_shapes

Asked = tuple[Camera, float, float, tuple[int, ...]]
"""A camera, and the place and size of a view from above."""


def see_in_play(frame: Frame, camera: Camera, view: Orthophoto) -> tuple[Discs, SeenShapes]:
    """Return what the look from above sees in a `view` of the photo, and the shapes of bases there."""
    known = _known(frame)
    asked: Asked = (camera, view.left_mm, view.top_mm, view.pixels.shape)
    if asked not in known:
        discs = find_discs(view, camera, in_play=True)
        known[asked] = discs, find_shapes(photo_pyramid(frame), camera, discs)
    return known[asked]


@lru_cache(maxsize=1)
def _known(frame: Frame) -> dict[Asked, tuple[Discs, SeenShapes]]:
    """Return what was seen in a photo."""
    return {}
