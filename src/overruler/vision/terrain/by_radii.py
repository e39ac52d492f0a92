"""Raised ground by the radii that the rim network reads: neighbours on it look too large for their size.

Bases on a roof are nearer to the camera, so they look larger: on 84 mm, seen from 1.9 m, 35 mm look
like 36.6. The network reads a radius to some tenths of a millimetre where edges alone tell nothing, and
neighbours share their ground. So they tell how likely ground is raised that the map is unsure of. Where a
base may have another size, that explains its look on the board as well as on a roof. The map
misses a roof now and then altogether. Bases on it seem to stand centimetres off on the board, and
surely so; they tell of it, too.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from shapely import MultiPoint, Polygon

from overruler.calibration import Calibration
from overruler.detections import Detection, RaisedArea
from overruler.geometry.pose import Array
from overruler.geometry.relief import reproject_to_height
from overruler.vision.learned.hill_net import HillMap
from overruler.vision.refinement.base_scale import MIN_VISIBLE_SHARE
from overruler.vision.rounds.size_likelihood import RADIUS_FLOOR_SIGMA_MM, RADIUS_SIGMA_INFLATION
from overruler.vision.terrain.by_base_sizes import (
    MAX_HEIGHT_SHARE,
    MIN_PROBABILITY,
    area_if_raised,
    updated_probability,
)
from overruler.vision.terrain.log_heights import height_and_evidence
from overruler.vision.terrain.names import free_names

LEAST_BASES = 4
"""Fewer round bases on the board do not tell how large bases look there."""
TOO_LARGE_SIGMAS = 2.0
"""A base whose radius is read so much too large, in σ, may stand on something."""
NEIGHBOUR_MM = 150.0
"""Distance of neighbours that may stand on the same ground."""
MARGIN_MM = 30.0
"""How far such ground reaches beyond the centres of its bases."""
EDGE_SIGMA_MM = 15.0
"""1 σ of the place of its outline, which nobody sees."""
PRIOR_PROBABILITY = 0.005
"""Probability that neighbours stand on ground which the map misses."""
HINTED_PROBABILITY = 0.05
"""The same where the map hints at it. Of 59 such bases on 48 rendered photos, which have more roofs than
tables have, nine stood on missed ones."""
HINT = 0.03
"""A top's probability at a base, by the map, that is such a hint: the nine had 0.04 to 0.4."""
HINTED_SIGMAS = 1.0
"""A base there may stand on something if its radius is read so much too large, in σ: so were the nine,
and two of 50 on the mat."""
HEIGHT_MM = 55.0
"""Usual height of such ground: roofs are missed more often than hills."""
HEIGHT_SIGMA_MM = 30.0
"""1 σ of that."""
HEIGHTS_MM = np.arange(8.0, 150.0, 2.0)
"""Heights that are tried."""
COMMON_SIGMA_MM = 0.1
"""1 σ of the radius by what misleads the network about all bases on one ground."""
OTHER_SIZE_NATS = 0.5
"""By how much less likely another size is that a base may have than the one that is told. Without other
sizes five bases of 30 mm, told as ones of 27, stood 128 mm high, surely. On 42 rendered photos 1 raises two
more pieces on roofs, and leaves five more rulings certain and false."""
MOST_NATS = 4.0
"""Most that one base's radius says for raised ground: its rim may be another thing's."""


class Looks(NamedTuple):
    """How large the network sees N bases, and which sizes they may have."""

    mm: Array
    """(N,): radii as read, less what it reads into all bases on the board."""
    sigma_mm: Array
    """(N,): 1 σ of that."""
    radii_mm: Array
    """(N, K): radii that each may have, the likeliest first; NaN where there are fewer."""

    def of(self, bases: Sequence[int]) -> "Looks":
        """Those of some of the bases."""
        return Looks(*(each[list(bases)] for each in self))

    def log_likelihood(self, scales: Array) -> Array:
        """Log-likelihood (H,) that radii look `scales` (H,) times as large, whichever sizes fit best."""
        gaps = self.mm[:, None] - scales[:, None, None] * self.radii_mm
        nats = -0.5 * (gaps / self.sigma_mm[:, None]) ** 2
        nats[..., 1:] -= OTHER_SIZE_NATS
        best = np.nanargmax(nats, axis=-1)
        gap = np.take_along_axis(gaps, best[..., None], -1)[..., 0]
        precision = np.linalg.inv(np.diag(self.sigma_mm**2) + COMMON_SIGMA_MM**2)
        chi2 = np.einsum("hi,ij,hj->h", gap, precision, gap)
        return np.asarray(-0.5 * chi2 - OTHER_SIZE_NATS * (best > 0).sum(-1))


def weigh_areas(
    calibration: Calibration, found: Sequence[Detection], areas: Sequence[RaisedArea]
) -> tuple[RaisedArea, ...]:
    """Return the areas updated by the round bases on them; unlikely ones are left out."""
    rounds, under = _rounds_and_ground(calibration, found, areas)
    read = _read_radii(rounds, under)
    if read is None:
        return tuple(areas)
    updated = []
    for area in areas:
        on = [k for k, below in enumerate(under) if below is area]
        updated.append(_weigh_area(area, read.of(on), _eye_mm(calibration)) if on else area)
    return tuple(area for area in updated if area.probability > MIN_PROBABILITY)


def _weigh_area(area: RaisedArea, read: Looks, eye_mm: float) -> RaisedArea:
    """Update an area by the bases on it; of one that is more likely none they tell the height, too.

    The map is unsure of roofs more often than of hills, and takes them for lower than they are.
    """
    likely = area.probability > 0.5
    prior = (area.top_z_mm, area.sigma_mm) if likely else (HEIGHT_MM, HEIGHT_SIGMA_MM)
    nats, height, sigma = weigh_heights(read, eye_mm, prior)
    chance = updated_probability(area.probability, nats)
    if likely:
        return replace(area, probability=chance)
    return replace(area, probability=chance, top_z_mm=height, sigma_mm=sigma)


def suspect_ground(
    calibration: Calibration,
    found: Sequence[Detection],
    areas: Sequence[RaisedArea],
    seen: HillMap,
) -> tuple[RaisedArea, ...]:
    """Return raised ground under neighbours on the board that look too large for their sizes.

    No base of one of the `areas` is among them. Less will do where the map, `seen`, hints at a top: there
    the smallest size counts that a base may have. The ground is named h1, h2 and so on.
    """
    rounds, under = _rounds_and_ground(calibration, found, areas)
    read = _read_radii(rounds, under)
    if read is None:
        return ()
    is_beside = np.array([below is None for below in under])
    everywhere = np.array([one.xy_mm for one in rounds])
    is_hinted = seen.top[seen.cells_at(everywhere)] > HINT
    least_sigmas = np.where(is_hinted, HINTED_SIGMAS, TOO_LARGE_SIGMAS)
    radii = np.where(is_hinted, np.nanmin(read.radii_mm, 1), read.radii_mm[:, 0])
    large = np.flatnonzero((read.mm - radii > least_sigmas * read.sigma_mm) & is_beside)
    names = free_names({area.id for area in areas})
    suspects = []
    for group in _neighbourhoods(everywhere[large]):
        members = large[group]
        of_group = read.of(members.tolist())
        prior = HINTED_PROBABILITY if is_hinted[members].any() else PRIOR_PROBABILITY
        nats, *height = weigh_heights(of_group, _eye_mm(calibration), (HEIGHT_MM, HEIGHT_SIGMA_MM))
        chance = updated_probability(prior, nats)
        if chance > MIN_PROBABILITY:
            outline = _outline_mm(calibration, everywhere[members], height[0])
            facts = next(names), outline, height[0], height[1], chance
            suspects.append(RaisedArea(*facts, edge_mm=EDGE_SIGMA_MM))
    return tuple(suspects)


def _neighbourhoods(places_mm: Array) -> list[NDArray[np.intp]]:
    """Group places (N, 2) by chains of neighbours; return the indices of each group."""
    joined = np.linalg.norm(places_mm[:, None] - places_mm, axis=-1) < NEIGHBOUR_MM
    while (further := joined @ joined).sum() > joined.sum():
        joined = further
    firsts = np.array([row.argmax() for row in joined], int)
    return [np.flatnonzero(firsts == first) for first in np.unique(firsts)]


def _rounds_and_ground(
    calibration: Calibration, found: Sequence[Detection], areas: Sequence[RaisedArea]
) -> tuple[list[Detection], list[RaisedArea | None]]:
    """The N round bases on the board whose radius tells a height, and the ground under each, if raised."""
    rounds = [one for one in found if _tells_height(one)]
    return rounds, [area_if_raised(calibration, one, areas) for one in rounds]


def _tells_height(one: Detection) -> bool:
    is_round = one.base.shape == "circle" and one.learned_radius_mm is not None
    return is_round and one.z_mm == 0 and one.visible >= MIN_VISIBLE_SHARE


def _read_radii(rounds: Sequence[Detection], under: Sequence[RaisedArea | None]) -> Looks | None:
    """What the network reads of N bases; None where too few on the board tell how large they look there."""
    beside = [k for k, below in enumerate(under) if below is None]
    if len(beside) < LEAST_BASES:
        return None
    read = np.array([one.learned_radius_mm for one in rounds], float)
    radii = _possible_radii_mm(rounds)
    offset = np.median((read[:, 0] - radii[:, 0])[beside])
    sigma = np.hypot(RADIUS_SIGMA_INFLATION * read[:, 1], RADIUS_FLOOR_SIGMA_MM)
    return Looks(read[:, 0] - offset, sigma, radii)


def _possible_radii_mm(rounds: Sequence[Detection]) -> Array:
    """The radii (N, K) that bases may have, the likeliest first; NaN where there are fewer."""
    rows = [(one.base, *one.alternative_bases) for one in rounds]
    radii = [[base.width_mm / 2 for base in row if base.shape == "circle"] for row in rows]
    return np.array(list(zip_longest(*radii, fillvalue=np.nan))).T


def _eye_mm(calibration: Calibration) -> float:
    return float(calibration.camera.center_mm[2])


def weigh_heights(
    read: Looks, eye_mm: float, prior_mm: tuple[float, float]
) -> tuple[float, float, float]:
    """Return the evidence in nats that N neighbours stand on raised ground, its height and 1 σ of that, in mm.

    `prior_mm` is the height that is usual, and 1 σ of it.
    """
    heights = HEIGHTS_MM[MAX_HEIGHT_SHARE * eye_mm > HEIGHTS_MM]
    nats = read.log_likelihood(eye_mm / (eye_mm - heights))
    (flat_nats,) = read.log_likelihood(np.ones(1))
    prior = np.exp(-0.5 * ((heights - prior_mm[0]) / prior_mm[1]) ** 2)
    height_mm, sigma_mm, evidence = height_and_evidence(heights, prior, nats, flat_nats)
    limit = MOST_NATS * len(read.mm)
    return float(np.clip(evidence, -limit, limit)), height_mm, sigma_mm


def _outline_mm(calibration: Calibration, places_mm: Array, height_mm: float) -> Array:
    """The outline (K, 2) of ground at a height under bases that seem to stand at places (N, 2) on the board."""
    raised = reproject_to_height(calibration.camera, places_mm, 0.0, height_mm)
    ground = MultiPoint(raised).convex_hull.buffer(MARGIN_MM)
    return np.array(Polygon(ground).exterior.coords[:-1])
