"""The heading of a plate or a hexagon by all photos that see it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from overruler.geometry.pose import Array, wrapped_turn
from overruler.vision.pairing.sighting import Sighting

SAME_AXIS_DEG = 5.0
"""Headings that differ by less, but for turns after which the sides look the same, are of one axis."""
MIN_VISIBLE = 0.01
"""Least visible share that counts: a base that a person placed shows none of itself."""
SAME_FIT_DEG = 2.0
"""Headings farther from their median are of fits gone astray."""
QUARTER_DEG = 90.0


@dataclass(frozen=True, slots=True)
class FusedHeading:
    """A heading, and what is not known of it."""

    heading_deg: float
    heading_modulo_deg: float
    """Period of its ambiguity."""
    other_headings: tuple[tuple[float, float], ...]
    """Other headings in degrees, each with its probability."""


def fuse_headings(sightings: Sequence[Sighting]) -> FusedHeading:
    """The front is the one that most photos report. The axis is the weighted mean of the agreeing headings."""
    surest = max(sightings, key=_surety).detection
    front = _front(sightings)
    told = surest if front is None else front.detection
    modulo = told.heading_modulo_deg
    if front is None and len(sightings) > 1:
        modulo = min(one.detection.heading_modulo_deg for one in sightings)
        if _fronts_contradict(sightings):
            modulo = QUARTER_DEG
    step = _axis_step_deg(sightings, told.heading_deg)
    others = [((other + step) % 360, likely) for other, likely in told.other_headings]
    return FusedHeading((told.heading_deg + step) % 360, modulo, tuple(others))


def _surety(one: Sighting) -> tuple[float, float]:
    """Which sighting counts most: how much of it is seen, then how finely."""
    return one.detection.visible, -_scale(one)


def _scale(one: Sighting) -> float:
    place = np.array([*one.detection.xy_mm, one.detection.z_mm])
    return one.photo.mm_per_px(place)


def _front(sightings: Sequence[Sighting]) -> Sighting | None:
    """The surest sighting of the front that most photos see; None where none does, or no most."""
    knowing = [one for one in sightings if one.detection.heading_modulo_deg == 360.0]
    votes = [sum(_apart_deg(one, other) < QUARTER_DEG / 2 for other in knowing) for one in knowing]
    if not votes or 2 * max(votes) <= len(knowing):
        return None
    leading = [one for one, vote in zip(knowing, votes, strict=True) if vote == max(votes)]
    return max(leading, key=_surety)


def _fronts_contradict(sightings: Sequence[Sighting]) -> bool:
    knowing = [one for one in sightings if one.detection.heading_modulo_deg == 360.0]
    return any(_apart_deg(one, other) > QUARTER_DEG / 2 for one in knowing for other in knowing)


def _apart_deg(one: Sighting, other: Sighting) -> float:
    step = one.detection.heading_deg - other.detection.heading_deg
    return abs(wrapped_turn(step, 360.0))


def _axis_step_deg(sightings: Sequence[Sighting], heading_deg: float) -> float:
    """How far the axis by all photos is turned from a heading."""
    steps = np.array([one.detection.heading_deg - heading_deg for one in sightings])
    base = sightings[0].detection.base
    turn = base.heading_modulo_deg if base.shape == "hexagon" else QUARTER_DEG
    steps = wrapped_turn(steps, turn)
    seen = [max(one.detection.visible, MIN_VISIBLE) for one in sightings]
    weights = np.array(
        [share / _scale(one) ** 2 for share, one in zip(seen, sightings, strict=True)]
    )
    near = np.abs(steps) < SAME_AXIS_DEG
    middle = _weighted_median(steps[near], weights[near])
    agreeing = near & (np.abs(steps - middle) < SAME_FIT_DEG)
    return float(weights[agreeing] @ steps[agreeing] / weights[agreeing].sum())


def _weighted_median(values: Array, weights: Array) -> float:
    order = np.argsort(values)
    total = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(total, total[-1] / 2)])
