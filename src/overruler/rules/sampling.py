"""Equally likely displacements of the pieces, and what share of them gives an answer."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from overruler.geometry.shapes import Gap, Shape
from overruler.scene import Scene

if TYPE_CHECKING:
    from overruler.geometry.pose import Array


def max_relative_shift_mm(scene: Scene, i: int | None, j: int | None) -> float:
    """Piece j is never displaced farther than this against piece i; None for terrain, which is where it is."""
    return scene.covariance.max_relative_shift_mm(i, j) if scene.covariance else 0.0


def draw_displacements(
    scene: Scene, indices: Sequence[int | None], count: int | None = None
) -> "Array":
    """Equally likely displacements (n, len(indices), 2) of those pieces, in mm, joint and always the same.

    None among the indices is terrain, which stays. `count` is a power of 2; None for as many as give probabilities to
    0.005. Without covariance nothing moves.
    """
    import numpy as np

    from overruler.geometry.batched.draws import difference_covariance, draw_gaussian

    array = scene.covariance.array if scene.covariance else np.zeros((2 * len(scene.pieces),) * 2)
    return draw_gaussian(
        difference_covariance(array, [(None, index) for index in indices]), count
    ).reshape(-1, len(indices), 2)


def answer_probabilities(values: Iterable[Any]) -> dict[str, float]:
    """The probability of each answer, by its JSON text, out of equally likely ones."""
    counts = Counter(values.tolist() if hasattr(values, "tolist") else values)
    total = sum(counts.values())
    return {json.dumps(value): count / total for value, count in counts.items()}


@dataclass(frozen=True, slots=True)
class ClosestCandidate:
    """Two convex parts, one of each side, that may turn out to be the closest."""

    a: Shape
    b: Shape
    i: int | None
    j: int | None
    """Their pieces' places in the scene; None for terrain."""
    gap: Gap
    max_shift_mm: float


def yes_no_probabilities(yes: float) -> dict[str, float]:
    """The probabilities of the answers true and false, by their JSON texts."""
    return {"true": yes, "false": 1 - yes}
