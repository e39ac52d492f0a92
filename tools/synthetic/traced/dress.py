"""How units look: their bases, their paints, and the figures on them."""

from dataclasses import dataclass

import numpy as np

from synthetic.arrays import Array, Floats, Rng
from synthetic.things.figures import named_figure
from synthetic.things.materials import Part, paint
from synthetic.things.mesh import about_z
from synthetic.things.pieces import FLOCK
from synthetic.things.ships import ship
from synthetic.traced.troops import (
    HUES,
    METALS,
    RIM_CHOICE,
    SHIP_SHARE,
    SKINS,
    TOP_CHOICE,
    Kind,
)

STAND_SHARE = 0.8
"""How far from its middle figures stand on a base, as a share of its half sides."""
FLOCKED = 0.4
"""The share of units of stands whose flock covers the sides of their bases too."""


@dataclass(frozen=True, slots=True, eq=False)
class Dress:
    """How a unit is painted."""

    paints: Floats
    """(5, 3): cloth, armour, skin, metal, trim, blue green red."""
    rim: str
    topping: str


def figure_parts(
    rng: Rng, kind: Kind, paints: Floats, foot: tuple[float, float, float], heading_deg: float
) -> list[Part]:
    """What stands on a base, or flies over it."""
    if kind.figure == "ship":
        size, turn = SHIP_SHARE * kind.shape.length_mm, float(np.radians(heading_deg))
        solids = ship(rng, np.array(foot[:2]), turn, size, paints[[1, 0, 4]])
    else:
        feet = [np.array(foot)] if kind.figures == 1 else feet_on(rng, kind, foot, heading_deg)
        solids = [
            solid
            for one in feet
            for solid in named_figure(kind.figure, rng, one, kind.size, paints)
        ]
    return [solid.part(float(rng.uniform(0, 0.4))) for solid in solids]


def feet_on(
    rng: Rng, kind: Kind, foot: tuple[float, float, float], heading_deg: float
) -> list[Array]:
    """Where several figures stand on a base."""
    half = np.array([kind.shape.length_mm, kind.shape.width_mm]) / 2
    count = int(rng.integers(1, kind.figures + 1))
    aside = rng.uniform(-STAND_SHARE, STAND_SHARE, (count, 2)) * half
    return [np.array(foot) + about_z(heading_deg) @ [*one, 0.0] for one in aside]


def _paints(army: str, rng: Rng) -> Floats:
    """One unit's paints out of its army's."""
    cloth, armour, accent = HUES[army]
    names = (rng.choice(cloth), rng.choice(armour), rng.choice(SKINS), rng.choice(METALS), accent)
    return np.array([paint(str(name))[::-1] for name in names], np.float32)


def dress_of(game: str, army: str, look: tuple[str, str], rng: Rng) -> Dress:
    """How a unit of an army looks; most wear what the army wears."""
    rim = look[0] if rng.random() < 0.65 else str(rng.choice(RIM_CHOICE))
    top = look[1] if rng.random() < 0.65 else str(rng.choice(TOP_CHOICE))
    if game == "xwing":
        rim = "clear" if rng.random() < 0.2 else "black"
    if game == "stands" and rng.random() < FLOCKED:
        rim = FLOCK
    return Dress(_paints(army, rng), rim, top)
