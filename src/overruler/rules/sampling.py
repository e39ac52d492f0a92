"""Equally likely displacements of the pieces, and probabilities counted over them."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from overruler.geometry.shapes import Gap, Shape
from overruler.scene import Scene

if TYPE_CHECKING:
    from overruler.geometry.pose import Array

DRAW_COUNT = 16384
"""Draws that give a probability to 0.005 however many pieces matter."""


def max_relative_shift_mm(scene: Scene, i: int | None, j: int | None) -> float:
    """The largest displacement of piece j against piece i; None is the table with its terrain."""
    return scene.covariance.max_relative_shift_mm(i, j) if scene.covariance else 0.0


def draw_displacements(
    scene: Scene, indices: Sequence[int | None], count: int | None = None
) -> "Array":
    """Joint displacements (n, len(indices), 2) in mm, equally likely and always the same.

    None among the indices is terrain, which stays. `count` is a power of 2; None for enough to give
    probabilities to 0.005. Without covariance nothing moves.
    """
    import numpy as np

    from overruler.geometry.batched.draws import difference_covariance, draw_gaussian

    size = 2 * len(scene.pieces)
    joint = scene.covariance.array if scene.covariance else np.zeros((size, size))
    covariance = difference_covariance(joint, [(None, index) for index in indices])
    drawn = draw_gaussian(covariance, count)
    return drawn.reshape(len(drawn), len(indices), 2)


def answer_probabilities(values: Iterable[Any]) -> dict[str, float]:
    """The probability of each answer, by its JSON text, among equally likely ones."""
    counts = Counter(values.tolist() if hasattr(values, "tolist") else values)
    total = sum(counts.values())
    return {json.dumps(value): count / total for value, count in counts.items()}


def yes_no_probabilities(yes: float) -> dict[str, float]:
    """The probabilities of the answers true and false, by their JSON texts."""
    return {"true": yes, "false": 1 - yes}


class ClosestCandidate(NamedTuple):
    """Two convex parts, one of each side, that may turn out to be the closest."""

    a: Shape
    b: Shape
    i: int | None
    j: int | None
    """The indices of their pieces in the scene; None for terrain."""
    gap: Gap
    max_shift_mm: float
    """The largest displacement of `b` against `a`."""
