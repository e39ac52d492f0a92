"""Round bases in the ends of ovals and stadiums: which of those that claim one place stands."""

import math
from collections.abc import Callable, Sequence

from overruler.bases import Base

OVAL_PREFERENCE = 50.0
"""A round base in the place of an oval or a stadium stays only with a probability of error smaller by
this factor.

Their ends look like round bases. An oval found on round bases hardly passes its own test."""
MAX_END_RATIO = 1.2
"""Largest diameter of a round base in such an end, in widths of the base."""


def oval_preferences(
    bases: Sequence[Base],
    probabilities: Sequence[float],
    do_overlap: Callable[[int, int], bool],
) -> list[float]:
    """Return by what the probability of error of each of N bases is divided where they compete.

    It is 1 but for bases with round ends. `do_overlap` tells it of two of them by their numbers.
    """
    long = [k for k, base in enumerate(bases) if base.has_round_ends]
    rounds = [k for k, base in enumerate(bases) if base.shape == "circle"]
    angular = [k for k, base in enumerate(bases) if base.shape == "rectangle"]

    def covers_wider_round(oval: int) -> bool:
        """Tell whether a surer round base that is no end of an oval, being wider, overlaps it.

        Ovals side by side look like one round base: all that overlap it must be less sure than it is.
        """
        end_mm = MAX_END_RATIO * bases[oval].width_mm
        for wider in (k for k in rounds if bases[k].width_mm > end_mm and do_overlap(oval, k)):
            rivals = [k for k in long if do_overlap(k, wider)]
            if 1 - probabilities[wider] < math.prod(1 - probabilities[k] for k in rivals):
                return True
        return False

    def covers_surer_rectangle(oval: int) -> bool:
        """Tell whether a surer rectangle overlaps it: none looks like an end, and a row of some like a stadium."""
        surer = [k for k in angular if probabilities[k] > probabilities[oval]]
        return any(do_overlap(oval, k) for k in surer)

    preferred = {k for k in long if not covers_wider_round(k) and not covers_surer_rectangle(k)}
    return [OVAL_PREFERENCE if k in preferred else 1.0 for k in range(len(bases))]
