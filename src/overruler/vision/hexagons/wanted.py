"""Which hexagons are looked for on a table, and how likely it has some."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from overruler.bases import HEXAGON_WIDTHS_MM, Base
from overruler.vision.hexagons.on_table import NAMED_SHARE, TABLE_SHARE
from overruler.vision.rounds.table_sizes import covers_catalogue


@dataclass(frozen=True, slots=True)
class WantedHexagons:
    """The hexagons that are looked for, all of them among what was found as round bases."""

    widths_mm: tuple[float, ...] = ()
    """Their widths, ascending; none where none are looked for."""
    are_named: bool = False
    """Whether somebody named them."""
    rounds: tuple[Base, ...] = ()
    """The round bases that are looked for beside them."""

    @classmethod
    def of(cls, bases: Sequence[Base]) -> "WantedHexagons":
        """Return those that are named in `bases`; those of the catalogue where it is looked for as a whole."""
        rounds = tuple(dict.fromkeys(base for base in bases if base.shape == "circle"))
        named = sorted({base.width_mm for base in bases if base.shape == "hexagon"})
        if named:
            return cls(tuple(named), True, rounds)
        radii_mm = np.array([base.width_mm / 2 for base in rounds])
        return cls(HEXAGON_WIDTHS_MM if covers_catalogue(radii_mm) else (), False, rounds)

    @property
    def table_share(self) -> float:
        """The prior probability that the table has any."""
        return NAMED_SHARE if self.are_named else TABLE_SHARE

    @property
    def stand_ins(self) -> Mapping[Base, Base]:
        """The hexagons that somebody named, each by the round base that it is found as."""
        named = map(Base.hexagon, self.widths_mm if self.are_named else ())
        return {base.as_round: base for base in named}


NO_HEXAGONS = WantedHexagons()
"""Where none are looked for."""
