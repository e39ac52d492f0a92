"""The likeliest of the candidates that claim one place.

What one place is differs from use to use; the choice does not.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.pose import Array

Rivalry = Callable[[int, list[int]], NDArray[np.bool_]]
"""Tells which of the candidates in a list claim the place of one candidate."""


def likeliest_of_each_place(likelihood: Array, are_rivals: Rivalry) -> list[int]:
    """Return those of the candidates (N,) that no likelier one rivals, the likeliest first."""
    return [group[0] for group in group_rivals(likelihood, are_rivals)]


def group_rivals(likelihood: Array, are_rivals: Rivalry) -> list[list[int]]:
    """Group the candidates (N,) by place: greedily, the likeliest first in and among the groups.

    A candidate joins the first group whose likeliest it rivals. It rivals nobody for the others in
    there, so a chain of near ones may become several groups. Of equally likely ones the first leads.
    """
    groups: list[list[int]] = []
    leaders: list[int] = []
    for k in np.argsort(-likelihood, kind="stable").tolist():
        rivals = np.flatnonzero(are_rivals(k, leaders))
        if len(rivals):
            groups[rivals[0]].append(k)
        else:
            groups.append([k])
            leaders.append(k)
    return groups
