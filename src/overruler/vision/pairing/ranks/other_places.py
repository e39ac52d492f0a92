"""Where further bases in rank and file may stand, by those that are found: beside them, or as parts of them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from overruler.bases import Base
from overruler.geometry.pose import Array
from overruler.vision.contours.overlap_choice import bases_overlap
from overruler.vision.detection.sizes import is_plate
from overruler.vision.pairing.decided import Decided
from overruler.vision.pairing.levels import SAME_LEVEL_MM
from overruler.vision.pairing.ranks.ask_photos import pose_of, probability_of
from overruler.vision.plates.rectangle_fit import BasePose, size_mm
from overruler.vision.plates.regiments import BASES, is_taken
from overruler.vision.plates.sides import half_extents, side_normals

ODD_SIZE_CHI2 = 5.0
"""Mean squared error of the guessed size, in σ², from which on a base may be of another. Of 176 bases one in
six had more, of two taken for one 19 in 20."""
MOST_PARTS = 4
"""Most bases in contact that may be taken for one."""
SLIP_MM = 3.0
"""How far two of them may be off their contact."""
GROWTH_PROBABILITY = 0.5
"""Beside a base of this probability others are asked for."""


def other_sizes(ranks: Sequence[Decided]) -> list[Decided]:
    """What else those of an odd size may be: smaller bases in contact, or one larger base."""
    odd = [one for one in ranks if is_odd(one)]
    return [*(part for one in odd for part in _parts_of(one)), *_unions_of(ranks)]


def is_odd(one: Decided) -> bool:
    """Whether the photos guess another size for a base."""
    return size_chi2_of(one) > ODD_SIZE_CHI2


def size_chi2_of(one: Decided) -> float:
    """The mean squared error of the size that photos guess for a base, in σ²; 0 where none was asked."""
    return 0.0 if one.ranks is None else one.ranks.size_chi2


def _parts_of(one: Decided) -> Iterator[Decided]:
    """Yield the smaller bases that together look like one."""
    pose, (length_mm, width_mm) = pose_of(one), size_mm(one.base)
    for count in range(2, MOST_PARTS + 1):
        sides = (length_mm / count, width_mm), (length_mm, width_mm / count)
        for along, (x_mm, y_mm) in enumerate(sides):
            base = Base.rectangle(min(x_mm, y_mm), max(x_mm, y_mm))
            if base not in BASES or is_plate(base):
                continue
            step = side_normals(pose.turn_rad)[along] * (x_mm, y_mm)[along]
            heading_deg = one.heading_deg + (0.0 if x_mm >= y_mm else 90.0)
            for k in range(count):
                xy_mm = pose.xy_mm + (k - (count - 1) / 2) * step
                yield _told(one, base, xy_mm, heading_deg)


def _unions_of(ranks: Sequence[Decided]) -> Iterator[Decided]:
    """Yield the bases that two of one size in contact look like together."""
    for one, other in combinations(ranks, 2):
        step = other.xyz_mm[:2] - one.xyz_mm[:2]
        pose, size = pose_of(one), np.array(size_mm(one.base))
        higher_mm = abs(float(one.xyz_mm[2] - other.xyz_mm[2]))
        if (
            not (is_odd(one) or is_odd(other))
            or one.base != other.base
            or higher_mm > SAME_LEVEL_MM
        ):
            continue
        for along, normal in enumerate(side_normals(pose.turn_rad)[:2]):
            if min(np.hypot(*(step - sign * size[along] * normal)) for sign in (-1, 1)) > SLIP_MM:
                continue
            sides = size.copy()
            sides[along] *= 2
            base = Base.rectangle(float(sides.min()), float(sides.max()))
            if base in BASES and not is_plate(base):
                heading_deg = one.heading_deg + (0.0 if sides[0] >= sides[1] else 90.0)
                yield _told(one, base, one.xyz_mm[:2] + step / 2, heading_deg)


def is_likely(one: Decided) -> bool:
    """Whether others are asked for beside a base."""
    return probability_of(one) >= GROWTH_PROBABILITY


def places_beside(
    likely: Sequence[Decided], standing: Sequence[BasePose], tried: Sequence[BasePose]
) -> list[Decided]:
    """The places in contact with likely bases where none is `standing` and none was `tried`."""
    places: list[Decided] = []
    for one in likely:
        pose = pose_of(one)
        for step in 2 * half_extents(size_mm(one.base))[:, None] * side_normals(pose.turn_rad):
            place = BasePose(one.base, pose.xy_mm + step, pose.turn_rad)
            known = [*tried, *map(pose_of, places)]
            if not is_taken(place, known) and not any(bases_overlap(place, at) for at in standing):
                places.append(_told(one, one.base, place.xy_mm, one.heading_deg))
    return places


def _told(like: Decided, base: Base, xy_mm: Array, heading_deg: float) -> Decided:
    """A base at a place that no photo told, at the height of another."""
    xyz_mm = np.array([*xy_mm, like.xyz_mm[2]])
    return replace(
        like,
        sightings=(),
        base=base,
        sizes={base: 1.0},
        xyz_mm=xyz_mm,
        told_heading_deg=heading_deg,
        ranks=None,
    )
