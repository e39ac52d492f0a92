"""The shapes of bases that the network in play sees where the looks from above saw any.

Each candidate is corrected a few times. Where several become one, the likeliest is kept.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.learned.disc_net import Discs
from overruler.vision.learned.in_play_net import (
    COLUMNS,
    LOGIT,
    RECTANGLE_LOGIT,
    STRETCH,
    corrected_shapes,
    look_at_shapes,
)
from overruler.vision.learned.patches import Picture, equal_area_radius_mm
from overruler.vision.learned.rivals_for_a_place import group_rivals

CORRECTIONS = 2
"""Times that a candidate is corrected."""
MIN_LOGIT = -1.0
"""Smallest log odds of a shape, once corrected."""
MIN_ONE_SIDED_LOGIT = -2.5
"""Smallest log odds of a shape that is looked at in the mirror, too.

On 26 photographs one of 2900 shapes above `MIN_LOGIT` had less, and 0.35 of those seen once."""
HALF_SIDES_MM = (4.0, 130.0)
"""Half width of the narrowest shape, and half length of the longest, that may be a base."""
SAME_PLACE = 0.3
"""Distance of two centres, in half widths, below which candidates of one size are one."""
SAME_SIZE = 0.15
"""Difference of the logarithms of half length or half width up to which they are of one size."""
PLAIN_LOGIT = 3.0
"""Log odds from which a shape is plain."""
LEAST_UNIT = 4
"""So many plain shapes of one size are a unit: others of it are sought where the looks from above saw
next to nothing."""
UNIT_SIZE = 0.12
"""Difference of the logarithms of radii up to which a faint candidate is of a unit's size."""
MOST_MATES = 250
"""Largest number of such candidates, the likeliest."""
MAX_ROUND_ASPECT = 1.4
"""Largest ratio of length to width of a round base as the network sees it: figures hide parts."""


class SeenShapes(NamedTuple):
    """What the network sees: N shapes, the likeliest first."""

    shapes: Array
    """(N, 5): x, y, half length and half width in mm on z = 0, and heading in rad.

    A rectangle counts as the oval of its area and proportions."""
    answers: Array
    """(N, 11): what the network says there, the mean over the picture and its mirror image."""
    from_above: Array
    """(N,): the highest probability of a candidate that became the shape."""

    @property
    def is_angular(self) -> NDArray[np.bool_]:
        """(N,): whether each is likelier a rectangle than round or oval."""
        return np.asarray(self.answers[:, RECTANGLE_LOGIT] > self.answers[:, LOGIT])

    @property
    def circles(self) -> Array:
        """(K, 3): those that may be round bases, as circles of their area: x, y and radius in mm."""
        is_round = ~self.is_angular & (self.shapes[:, 2] < MAX_ROUND_ASPECT * self.shapes[:, 3])
        round_ones = self.shapes[is_round]
        return np.column_stack([round_ones[:, :2], equal_area_radius_mm(round_ones)])

    def among(self, rows: NDArray[np.bool_] | NDArray[np.intp] | list[int]) -> "SeenShapes":
        return SeenShapes(self.shapes[rows], self.answers[rows], self.from_above[rows])


NO_SHAPES = SeenShapes(np.empty((0, 5)), np.empty((0, COLUMNS)), np.empty(0))


class Corrected(NamedTuple):
    """Candidates where the network put them."""

    shapes: Array
    """(N, 5): as those of `SeenShapes`."""
    logits: Array
    """(N,): their log odds at the last look."""
    from_above: Array
    """(N,): their probability from above."""

    def by_base(self) -> list[list[int]]:
        """Group those that became one base, the likeliest first in and among the groups."""

        def are_one(k: int, others: list[int]) -> NDArray[np.bool_]:
            return _are_one(self.shapes[k], self.shapes[others])

        return group_rivals(self.logits, are_one)

    def joined_by(self, others: "Corrected") -> "Corrected":
        return Corrected(*map(np.concatenate, zip(self, others, strict=True)))


def find_shapes(pyramid: list[Picture], camera: Camera, discs: Discs) -> SeenShapes:
    """Find the shapes of bases where `discs` has candidates, then those of units among the faint ones."""
    starts = np.concatenate([_as_shapes(discs.rounds), discs.ovals])
    corrected = _correct(pyramid, camera, starts)
    mates = _unit_mates(discs.faint, corrected)
    if len(mates):
        corrected = corrected.joined_by(_correct(pyramid, camera, _as_shapes(mates)))
    bases = corrected.by_base()
    highest = np.array([corrected.from_above[base].max() for base in bases])
    shapes = corrected.shapes[[base[0] for base in bases]].reshape(-1, 5)
    once = SeenShapes(shapes, look_at_shapes(pyramid, camera, shapes), highest)
    once = once.among(likelier_logits(once.answers) > MIN_ONE_SIDED_LOGIT)
    seen = once._replace(answers=_with_mirrored(pyramid, camera, once.shapes, once.answers))
    return seen.among(likelier_logits(seen.answers) > MIN_LOGIT)


def _as_shapes(rounds: Array) -> Array:
    """Return rounds (N, 4) of x, y, radius and probability as the ovals (N, 6) that they are."""
    x, y, radius, probability = rounds.T
    return np.column_stack([x, y, radius, radius, np.zeros(len(x)), probability])


def _correct(pyramid: list[Picture], camera: Camera, starts: Array) -> Corrected:
    """Correct candidates (N, 6) a few times; those that may be no bases by their size are left out."""
    numbers, shapes, logits = correct_shapes(pyramid, camera, starts[:, :5], CORRECTIONS)
    return Corrected(shapes, logits, starts[numbers, 5])


def correct_shapes(
    pyramid: list[Picture], camera: Camera, shapes: Array, times: int
) -> tuple[NDArray[np.intp], Array, Array]:
    """Correct shapes (N, 5) so many times; those that may be no bases by their size are left out.

    Return the numbers (K,) of the others, these (K, 5), and their log odds (K,) at the last look.
    """
    numbers, logits = np.arange(len(shapes)), np.empty(len(shapes))
    for _ in range(times):
        answers = look_at_shapes(pyramid, camera, shapes)
        shapes = corrected_shapes(camera, shapes, answers)
        usual = may_be_bases(shapes)
        numbers, shapes = numbers[usual], shapes[usual]
        logits = likelier_logits(answers)[usual]
    return numbers, shapes, logits


def _unit_mates(faint: Array, seen: Corrected) -> Array:
    """Return those of the `faint` candidates (N, 4) that have a unit's size, apart from all plain shapes.

    Bases come in units: where some are plain, others stand in poorer light or look like the board.
    """
    likeliest = [base[0] for base in seen.by_base()]
    plain = seen.shapes[[k for k in likeliest if seen.logits[k] > PLAIN_LOGIT]].reshape(-1, 5)
    if len(plain) < LEAST_UNIT:
        return faint[:0]
    radii = equal_area_radius_mm(plain)
    of_size = np.abs(np.log(faint[:, 2, None] / radii)) < UNIT_SIZE
    apart = np.hypot(*(faint[:, None, :2] - plain[:, :2]).transpose(2, 0, 1))
    is_free = (apart > radii).all(1)
    mates: Array = faint[(of_size.sum(1) >= LEAST_UNIT) & is_free]
    return mates[:MOST_MATES]


def likelier_logits(answers: Array) -> Array:
    """Return the log odds (N,) of the likelier kind of base, by answers (N, 11)."""
    return np.maximum(answers[:, LOGIT], answers[:, RECTANGLE_LOGIT])


def may_be_bases(shapes: Array) -> NDArray[np.bool_]:
    """Tell which shapes (N, 5) may be bases by their size."""
    narrowest, longest = HALF_SIDES_MM
    is_sized = (shapes[:, 3] > narrowest) & (shapes[:, 2] < longest)
    return np.asarray(np.isfinite(shapes).all(1) & is_sized)


def answers_from_both_sides(pyramid: list[Picture], camera: Camera, shapes: Array) -> Array:
    """Return the means (N, 11) of what the network says of shapes and of their mirror images."""
    return _with_mirrored(pyramid, camera, shapes, look_at_shapes(pyramid, camera, shapes))


def _with_mirrored(pyramid: list[Picture], camera: Camera, shapes: Array, answers: Array) -> Array:
    """Return the means (N, 11) of `answers` and of what the network says of the mirror images."""
    mirrored = look_at_shapes(pyramid, camera, shapes, np.ones(len(shapes), bool))
    mirrored[:, [1, STRETCH[1]]] *= -1
    return (answers + mirrored) / 2


def _are_one(shape: Array, others: Array) -> NDArray[np.bool_]:
    apart = np.hypot(*(others[:, :2] - shape[:2]).T)
    log_ratio = np.abs(np.log(others[:, 2:4] / shape[2:4]))
    is_near = apart < SAME_PLACE * np.minimum(others[:, 3], shape[3])
    return np.asarray(is_near & (log_ratio < SAME_SIZE).all(1))
