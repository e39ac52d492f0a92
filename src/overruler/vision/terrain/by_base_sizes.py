"""The height of raised ground, and whether it is raised at all, from the sizes of the bases on it.

With the camera at height D a base of radius R at height z looks as large as one of R·D / (D − z) on
the board. Errors that all bases share, of edges and of catalogue sizes, show on the board's bases
too, so only differences count (`refinement.base_scale`). One base measures a height to about 0.005
D, four to half of that. Under hills close to the camera this settles what their look leaves open.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

import numpy as np

from overruler.calibration import Calibration
from overruler.detections import Detection, RaisedArea
from overruler.frame import Frame
from overruler.geometry.pose import Array
from overruler.vision.camera.measurement_update import find_worst_outlier
from overruler.vision.refinement.base_scale import (
    EDGE_SIGMA_PX,
    MIN_VISIBLE_SHARE,
    SEARCH_REACH_SIGMAS,
    RimMeasurement,
    measure_rim,
    measures_of,
)
from overruler.vision.terrain.log_heights import height_and_evidence
from overruler.vision.terrain.standing_on import detection_at_height, probability_on

MIN_PROBABILITY = 0.005
"""Smallest posterior probability of raised ground: less likely it would not keep a call from being certain."""
MAX_BASES = 12
"""Largest number of bases measured on an area, and on the board: the surest."""
ITERATIONS = 2
"""Rounds of measurement; each searches the rims at the height found before."""
GROUND_EDGE_SIGMA_PX = 0.3
"""1 σ of the shift of edges on a hill against those on the mat, by the ground's brightness."""
GRID_SIGMAS = 3.5
"""Reach of the grid of heights to both sides of the prior, in prior σ."""
GRID_STEPS = 141
"""Heights on the grid."""
MAX_HEIGHT_SHARE = 0.5
"""Largest height on the grid, as a share of the camera's."""
MAX_NATS_PER_BASE = 3.0
"""Largest evidence of one base for or against an area: its rim may be mistaken."""


def heights_from_base_sizes(
    frame: Frame,
    calibration: Calibration,
    detections: Sequence[Detection],
    areas: Sequence[RaisedArea],
) -> tuple[RaisedArea, ...]:
    """Return the areas with height and probability updated by the round bases on them.

    Areas that become unlikely are left out. `detections` are as found on the board.
    """
    rounds = [detection for detection in detections if _is_usable(detection)]
    under = [area_if_raised(calibration, detection, areas) for detection in rounds]

    def bases_on(area: RaisedArea | None) -> list[Detection]:
        pairs = zip(rounds, under, strict=True)
        return _select_surest([detection for detection, below in pairs if below is area])

    beside: list[RimMeasurement] = []
    if any(area is not None for area in under):
        rims = [_measure_rim(frame, calibration, detection) for detection in bases_on(None)]
        beside = [rim for rim in rims if rim is not None]
    updated = [_weigh_area(frame, calibration, area, bases_on(area), beside) for area in areas]
    return tuple(area for area in updated if area.probability > MIN_PROBABILITY)


def _select_surest(detections: Sequence[Detection]) -> list[Detection]:
    def doubt(detection: Detection) -> tuple[bool, float]:
        return bool(detection.alternative_bases), -detection.visible

    return sorted(detections, key=doubt)[:MAX_BASES]


def _is_usable(detection: Detection) -> bool:
    return detection.base.shape == "circle" and detection.visible >= MIN_VISIBLE_SHARE


def area_if_raised(
    calibration: Calibration, detection: Detection, areas: Sequence[RaisedArea]
) -> RaisedArea | None:
    """Return the likeliest area under a piece, given that it is raised, if any."""
    best, best_chance = None, 0.5
    for area in areas:
        on_area = probability_on(calibration.camera, detection, area)
        chance = on_area / max(area.probability, 1e-9)
        if chance > best_chance:
            best, best_chance = area, chance
    return best


def _weigh_area(
    frame: Frame,
    calibration: Calibration,
    area: RaisedArea,
    standing: Sequence[Detection],
    beside: Sequence[RimMeasurement],
) -> RaisedArea:
    """Update one area by the bases on it, and by the rims of bases on the board."""
    height = area.top_z_mm
    eye_mm = float(calibration.camera.center_mm[2])
    for _ in range(ITERATIONS):
        rims = [_measure_at_height(frame, calibration, detection, height) for detection in standing]
        above = [rim for rim in rims if rim is not None]
        if not above:
            return area
        raised = np.repeat([1.0, 0.0], [len(above), len(beside)])
        sizes = RimSizes([*above, *beside], raised, eye_mm, calibration.covariance)
        height, sigma, nats = height_posterior(sizes, area)
    limit = MAX_NATS_PER_BASE * len(above)
    probability = updated_probability(area.probability, float(np.clip(nats, -limit, limit)))
    return replace(area, top_z_mm=height, sigma_mm=sigma, probability=probability)


def updated_probability(probability: float, nats: float) -> float:
    """Return a probability updated by evidence in nats."""
    odds = probability / max(1 - probability, 1e-9) * float(np.exp(nats))
    return odds / (1 + odds)


def _measure_at_height(
    frame: Frame, calibration: Calibration, detection: Detection, height_mm: float
) -> RimMeasurement | None:
    """Return a base's rim scaled to the board, searched there and at a height.

    Where both searches reach the same edges they should agree; otherwise the clearer one counts.
    """
    eye_mm = float(calibration.camera.center_mm[2])
    radius = detection.base.width_mm / 2
    measured = []
    for z in (0.0, height_mm):
        moved = detection_at_height(calibration.camera, detection, z)
        rim = _measure_rim(frame, calibration, moved)
        if rim is not None:
            scale = eye_mm / (eye_mm - z)
            excess = (radius + rim.radius_excess_mm) * scale - radius
            measured.append(replace(rim, radius_excess_mm=excess, sigma_mm=rim.sigma_mm * scale))
    if not measured:
        return None
    best = min(measured, key=attrgetter("sigma_mm"))
    other = max(measured, key=attrgetter("sigma_mm"))
    difference = abs(best.radius_excess_mm - other.radius_excess_mm)
    reach_mm = 2 * SEARCH_REACH_SIGMAS * EDGE_SIGMA_PX * best.mm_per_px
    if difference >= reach_mm:
        return best
    return replace(best, sigma_mm=float(np.hypot(best.sigma_mm, difference)))


def _measure_rim(
    frame: Frame, calibration: Calibration, detection: Detection
) -> RimMeasurement | None:
    """Return the rim of one base; other likely sizes widen its σ."""
    rim = measure_rim(frame, calibration, detection)
    if rim is None or not detection.alternative_bases:
        return rim
    size_sigma_mm = np.sqrt(np.trace(detection.unmodelled_mm2) / 2)
    return replace(rim, sigma_mm=float(np.hypot(rim.sigma_mm, size_sigma_mm)))


@dataclass(frozen=True, slots=True, eq=False)
class RimSizes:
    """The apparent sizes of N bases, some of them on one area."""

    rings: Sequence[RimMeasurement]
    """(N,): the rims."""
    raised: Array
    """(N,): 1 for those on the area, else 0."""
    eye_mm: float
    """The camera's height."""
    camera_covariance: Array
    """(15, 15): the camera's covariance."""

    def residuals(self, height_mm: Array) -> Array:
        """Return the excess (..., N) of apparent over measured radii, for heights (...)."""
        share = (np.asarray(height_mm) / (self.eye_mm - height_mm))[..., None]
        radius = np.array([rim.diameter_mm / 2 for rim in self.rings])
        return np.asarray(measures_of(self.rings).innovation + share * radius * self.raised)

    def log_likelihood(self, height_mm: Array) -> Array:
        """Return the log-likelihood (...) of heights (...), but for a constant."""
        residuals = self.residuals(height_mm)
        precision = np.linalg.inv(self.residual_covariance())
        chi2 = np.sum(residuals @ precision * residuals, axis=-1)
        return np.asarray(-0.5 * chi2)

    def residual_covariance(self) -> Array:
        """Return the covariance (N, N) of the residuals."""
        mm_per_px = np.array([rim.mm_per_px for rim in self.rings])
        shift = GROUND_EDGE_SIGMA_PX * self.raised * mm_per_px
        covariance = measures_of(self.rings).innovation_covariance(self.camera_covariance)
        return covariance + np.outer(shift, shift)

    def without_outliers(self, height_mm: Array) -> "RimSizes":
        """Drop rims that contradict the others at every height (H,), the worst first."""
        kept = self
        while len(kept.rings) > 1:
            likeliest = height_mm[kept.log_likelihood(height_mm).argmax()]
            worst = find_worst_outlier(kept.residuals(likeliest), kept.residual_covariance())
            if worst is None:
                break
            kept = kept._without(worst)
        return kept

    def _without(self, k: int) -> "RimSizes":
        rings = [*self.rings[:k], *self.rings[k + 1 :]]
        return replace(self, rings=rings, raised=np.delete(self.raised, k))


def height_posterior(sizes: RimSizes, area: RaisedArea) -> tuple[float, float, float]:
    """Return an area's height and its 1 σ, in mm, and the evidence in nats that it is raised.

    The prior of the logarithm of the height is normal. The height is its posterior mean.
    """
    steps = np.linspace(-GRID_SIGMAS, GRID_SIGMAS, GRID_STEPS)
    heights = area.top_z_mm * np.exp(area.sigma_mm / area.top_z_mm * steps)
    heights = np.minimum(heights, MAX_HEIGHT_SHARE * sizes.eye_mm)
    prior = np.exp(-0.5 * steps**2)
    sizes = sizes.without_outliers(np.append(heights, 0.0))
    nats = sizes.log_likelihood(heights)
    return height_and_evidence(heights, prior, nats, sizes.log_likelihood(np.array(0.0)))
