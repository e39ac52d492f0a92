"""How far apart in height two bodies stand."""

from overruler.reading import Node
from overruler.rules.bodies import Body
from overruler.scene import Scene
from overruler.units import CONTACT_TOLERANCE_MM

DEFAULT_HEIGHT_MM = 30.0
"""The height of a piece that tells none."""


def vertical_gap_mm(scene: Scene, a: Body, b: Body) -> float:
    """The gap between what two bodies stand from and to; 0 where these overlap."""
    a_low, a_high = _span_mm(scene, a)
    b_low, b_high = _span_mm(scene, b)
    return max(b_low - a_high, a_low - b_high, 0.0)


def is_near_in_height(scene: Scene, a: Body, b: Body, limit_mm: float) -> bool:
    """Whether the gap in height between two bodies is at most a limit."""
    return vertical_gap_mm(scene, a, b) <= limit_mm + CONTACT_TOLERANCE_MM


def _span_mm(scene: Scene, body: Body) -> tuple[float, float]:
    """The heights that a body stands from and to."""
    if body.index is None:
        terrain = next(one for one in scene.terrain if one.id == body.id)
        return terrain.base_z_mm, terrain.top_z_mm
    return body.z_mm, body.z_mm + _height_mm(scene, body.index)


def _height_mm(scene: Scene, index: int) -> float:
    extra = Node(scene.pieces[index].extra, "scene", f"pieces[{index}]")
    return extra.get("height_mm", Node.positive, DEFAULT_HEIGHT_MM)
