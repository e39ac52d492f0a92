"""Round bases in the ends of ovals and stadiums: which of those that claim one place stands."""

import math
from collections.abc import Callable, Sequence

import numpy as np

from overruler.vision.contours.outlines import in_half_sizes
from overruler.vision.contours.overlap_choice import PlacedBase

OVAL_PREFERENCE = 50.0
"""A round base in the place of an oval or a stadium stays only with a probability of error smaller by
this factor.

Their ends look like round bases. An oval found on round bases hardly passes its own test."""
MAX_END_RATIO = 1.2
"""Largest diameter of a round base in such an end, in widths of the base."""


def oval_preferences(
    placed: Sequence[PlacedBase],
    probabilities: Sequence[float],
    do_overlap: Callable[[int, int], bool],
) -> list[float]:
    """Return by what the probability of error of each of N `placed` bases is divided where they compete.

    It is 1 but for bases with round ends. `do_overlap` tells it of two of them by their numbers.
    """
    bases = [one.base for one in placed]
    long = [k for k, base in enumerate(bases) if base.has_round_ends]
    rounds = [k for k, base in enumerate(bases) if base.shape == "circle"]
    angular = [k for k, base in enumerate(bases) if base.shape == "rectangle"]

    def may_be_end(round_one: int, oval: int) -> bool:
        """Tell whether a round base fits into the end of an oval: it is not wider, and its middle lies inside."""
        if bases[round_one].width_mm > MAX_END_RATIO * bases[oval].width_mm:
            return False
        offset_mm = placed[round_one].xy_mm - placed[oval].xy_mm
        inside = in_half_sizes(bases[oval], offset_mm, placed[oval].turn_rad)
        return bool(np.hypot(*inside) < 1)

    def covers_other_round(oval: int) -> bool:
        """Tell whether a surer round base that is no end of an oval overlaps it.

        Ovals side by side look like one round base: all that overlap it must be less sure than it is.
        """
        for other in (k for k in rounds if not may_be_end(k, oval) and do_overlap(oval, k)):
            rivals = [k for k in long if do_overlap(k, other)]
            if 1 - probabilities[other] < math.prod(1 - probabilities[k] for k in rivals):
                return True
        return False

    def covers_surer_rectangle(oval: int) -> bool:
        """Tell whether a surer rectangle overlaps it: none looks like an end, and a row of some like a stadium."""
        surer = [k for k in angular if probabilities[k] > probabilities[oval]]
        return any(do_overlap(oval, k) for k in surer)

    preferred = {k for k in long if not covers_other_round(k) and not covers_surer_rectangle(k)}
    return [OVAL_PREFERENCE if k in preferred else 1.0 for k in range(len(bases))]
