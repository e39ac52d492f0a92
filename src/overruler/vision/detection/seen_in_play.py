"""What the networks for tables in play see of a photo, kept for the steps that ask for it."""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from overruler.detections import Detection
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.contours.overlap_choice import bases_overlap
from overruler.vision.imaging.orthophoto import Orthophoto
from overruler.vision.learned.disc_net import Discs, find_discs
from overruler.vision.learned.patches import photo_pyramid
from overruler.vision.learned.shapes_in_play import SeenShapes, find_shapes
from overruler.vision.rounds.ring_filter import are_visible

Asked = tuple[Camera, float, float, tuple[int, ...]]
"""A camera, and the place and size of a view from above."""


class SeenInPlay(NamedTuple):
    """What both networks see that nothing hides."""

    discs: Discs
    """What the look from above sees."""
    shapes: SeenShapes
    """The shapes of bases there."""


def visible_in_play(
    frame: Frame, camera: Camera, view: Orthophoto, hidden: Sequence[Array]
) -> SeenInPlay:
    """Return what is seen in a `view` of the photo outside of `hidden` polygons (K, 2) in mm."""
    discs, shapes = see_in_play(frame, camera, view)
    return SeenInPlay(discs, visible_shapes(view, hidden, shapes))


def visible_shapes(view: Orthophoto, hidden: Sequence[Array], shapes: SeenShapes) -> SeenShapes:
    """Return the shapes that nothing hides."""
    return shapes.among(are_visible(view, hidden, shapes.shapes[:, :2]))


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


def join_looks(first: Sequence[Detection], others: Sequence[Detection]) -> list[Detection]:
    """Return what one of two looks at a table found, each base once.

    Where both found a base of one size, the surer finding counts. Where their sizes differ, the first look's does.
    """
    joined = [_surest([one, *(it for it in others if _is_same(one, it))]) for one in first]
    apart = [one for one in others if not any(bases_overlap(one, it) for it in first)]
    return [*joined, *apart]


def _is_same(one: Detection, other: Detection) -> bool:
    return one.base == other.base and bases_overlap(one, other)


def _surest(detections: Sequence[Detection]) -> Detection:
    return max(detections, key=lambda one: one.score)
