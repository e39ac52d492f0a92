"""How sure a range inside an arc is, given the joint covariance of the two ships' places.

Alphabet: n draws, L lines between bands. `closest` is the pair with its closest points, in the arc
or not.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from overruler.geometry.arcs import Region, distance_to_outline_mm, gap_inside_region
from overruler.geometry.shapes import Gap, Point
from overruler.reading import Node
from overruler.rules.areas.arcs import ShipArc, read_angle_deg
from overruler.rules.measure import BodyPair, Measure
from overruler.rules.sampling import max_relative_shift_mm
from overruler.rules.uncertainty import distance_uncertainty
from overruler.scene import Scene
from overruler.units import CONTACT_TOLERANCE_MM

DRAW_COUNT = 4096


class ArcRangeUncertainty(NamedTuple):
    """The distribution of a range inside an arc."""

    sigma_mm: float | None
    """1 σ of the distance; None where no draw lies in the arc."""
    band_probabilities: tuple[float, ...]
    """(L + 1,) the probability of each band in arc: contact first, past the ruler last."""

    @property
    def in_arc_probability(self) -> float:
        """The probability that any part lies in the arc."""
        return min(math.fsum(self.band_probabilities), 1.0)


def arc_range_uncertainty(
    scene: Scene, arcs: Sequence[ShipArc], closest: BodyPair, lines_mm: Sequence[float]
) -> ArcRangeUncertainty | None:
    """The uncertainty of the closest distance inside any of some arcs, over all headings of the ship.

    None in a scene without covariance.
    """
    index = closest.a.index or 0
    ship = scene.pieces[index]
    regions = [arc.on_board(ship) for arc in arcs]
    as_measured = _regions_uncertainty(scene, regions, closest, lines_mm)
    if as_measured is None:
        return None
    headings = _other_headings(scene, index)
    measured_share = 1 - math.fsum(headings.values())
    bands = [measured_share * band for band in as_measured.band_probabilities]
    for heading_deg, heading_probability in headings.items():
        regions = [arc.on_board(replace(ship, heading_deg=heading_deg)) for arc in arcs]
        turned = _regions_uncertainty(scene, regions, closest, lines_mm)
        assert turned is not None  # there is covariance
        for k, band in enumerate(turned.band_probabilities):
            bands[k] += heading_probability * band
    return as_measured._replace(band_probabilities=tuple(bands))


def _other_headings(scene: Scene, index: int) -> dict[float, float]:
    """The other headings that a photo leaves possible for a ship, with their probabilities."""
    headings: dict[float, float] = {}
    ship = Node(scene.pieces[index].extra, "scene", f"pieces[{index}]")
    for node in ship["other_headings"].items() if ship.has("other_headings") else ():
        headings[read_angle_deg(node["heading_deg"])] = node["probability"].number()
    probabilities = headings.values()
    if any(probability < 0 for probability in probabilities) or math.fsum(probabilities) > 1:
        ship["other_headings"].fail("the probabilities must lie above 0, and be 1 at most together")
    return headings


def _regions_uncertainty(
    scene: Scene, regions: Sequence[Region], closest: BodyPair, lines_mm: Sequence[float]
) -> ArcRangeUncertainty | None:
    """The uncertainty for some regions of the board together."""
    if scene.covariance is None:
        return None
    reach_mm = max_relative_shift_mm(scene, closest.a.index, closest.b.index)
    ship, target = closest.a.parts[0], closest.b.parts[0]
    gaps = [gap_inside_region(region, ship, target) for region in regions]
    far = [distance_to_outline_mm(region, target) > reach_mm for region in regions]
    if all(gap is None and is_far for gap, is_far in zip(gaps, far, strict=True)):
        return ArcRangeUncertainty(None, (0.0,) * (len(lines_mm) + 1))
    if any(
        gap is not None and _arc_never_matters(region, closest, gap, reach_mm)
        for region, gap in zip(regions, gaps, strict=True)
    ):
        free = distance_uncertainty(scene, Measure((closest,)), lines_mm)
        return ArcRangeUncertainty(free.sigma_mm, free.band_probabilities) if free else None
    return _sampled_uncertainty(scene, regions, closest, reach_mm, lines_mm)


def _arc_never_matters(region: Region, closest: BodyPair, gap_in_arc: Gap, reach_mm: float) -> bool:
    """Whether the closest point lies in the arc however the two are displaced.

    The closest points of two convex shapes that stay apart move no farther than the shapes.
    """
    if distance_to_outline_mm(region, closest.b.parts[0]) > reach_mm:
        return True
    if closest.gap.distance_mm <= reach_mm:
        return False
    inside_mm = _distance_to_borders_mm(region, closest.gap.to_point)
    return inside_mm > 2 * reach_mm and gap_in_arc.distance_mm <= closest.gap.distance_mm


def _distance_to_borders_mm(region: Region, place: Point) -> float:
    return min((edge.distance_to_mm(place) for edge in region.edges), default=math.inf)


def _sampled_uncertainty(
    scene: Scene,
    regions: Sequence[Region],
    closest: BodyPair,
    reach_mm: float,
    lines_mm: Sequence[float],
) -> ArcRangeUncertainty:
    import numpy as np

    from overruler.geometry.batched.arcs import distances_inside_region
    from overruler.geometry.batched.draws import draw_gaussian

    assert scene.covariance is not None
    ship, target = closest.a, closest.b
    covariance = np.array(scene.covariance.of_difference(ship.index, target.index))
    shifts = draw_gaussian(covariance, DRAW_COUNT)
    by_region = []
    for region in regions:
        may_be_closest = (
            closest.gap.distance_mm <= reach_mm
            or region.contains(closest.gap.to_point)
            or _distance_to_borders_mm(region, closest.gap.to_point) <= 2 * reach_mm
        )
        inside = distances_inside_region(
            region, ship.parts[0], target.parts[0], shifts, may_be_closest
        )
        by_region.append(inside)
    distance_mm = np.min(by_region, 0)
    inside = distance_mm[np.isfinite(distance_mm)]
    band = np.searchsorted(lines_mm, inside - CONTACT_TOLERANCE_MM)
    counts = np.bincount(band, minlength=len(lines_mm) + 1)
    sigma_mm = float(inside.std()) if len(inside) else None
    return ArcRangeUncertainty(sigma_mm, tuple((counts / len(shifts)).tolist()))
