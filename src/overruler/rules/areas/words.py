"""Areas in words, as headlines and labels name them."""

from overruler.rules.areas.tree import (
    Area,
    Hidden,
    InArc,
    Joined,
    Near,
    Outside,
    WholeBase,
    Zone,
)
from overruler.rules.bodies import Body
from overruler.scene import Scene
from overruler.units import INCHES, MM_PER_INCH

MAX_NAMES = 3
"""Bodies that are named one by one; more are counted."""


def area_in_words(scene: Scene, area: Area) -> str:
    """What an area is: `within 6 in of guard`, `in an arc of p01 and hidden from p02`."""
    if isinstance(area, Joined):
        joint = " and " if area.is_all else " or "
        return joint.join(_in_brackets(scene, part) for part in area.parts)
    if isinstance(area, Outside):
        return f"not {_in_brackets(scene, area.area)}"
    if isinstance(area, WholeBase):
        return f"all of {area.base.id} {area_in_words(scene, area.area)}"
    if isinstance(area, Near):
        return _near_in_words(scene, area)
    if isinstance(area, InArc):
        return f"in an arc of {area.body.id}"
    if isinstance(area, Hidden):
        return f"hidden from {area.viewer.id}"
    assert isinstance(area, Zone)
    return "in the zone"


def _in_brackets(scene: Scene, area: Area) -> str:
    words = area_in_words(scene, area)
    return f"({words})" if isinstance(area, Joined) else words


def _near_in_words(scene: Scene, near: Near) -> str:
    low = _length(scene, near.low_mm)
    high = _length(scene, near.high_mm)
    names = _names_in_words(scene, near.bodies)
    reach = f"from {low} to {high}" if near.low_mm else f"within {high}"
    return f"{reach} of {names}" if near.low_mm == 0 else f"{reach} off {names}"


def _length(scene: Scene, length_mm: float) -> str:
    if scene.unit == INCHES:
        return f"{round(length_mm / MM_PER_INCH, 2):g} in"
    return f"{round(length_mm, 1):g} mm"


def _names_in_words(scene: Scene, bodies: tuple[Body, ...]) -> str:
    """The unit that some bodies make up, else their names."""
    pieces = [scene.pieces[body.index] for body in bodies if body.index is not None]
    units = {piece.unit for piece in pieces}
    if len(bodies) > 1 and len(units) == 1 and (unit := units.pop()):
        return unit
    names = [body.id for body in bodies]
    return ", ".join(names) if len(names) <= MAX_NAMES else f"{len(names)} pieces"
