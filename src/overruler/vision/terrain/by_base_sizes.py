"""How high raised ground is, and whether it is raised at all, by how large the bases on it look.

The camera being D above the board, a base of radius R at height z looks as large as one of R·D / (D − z) on the board.
What all bases of the photo have in common, edges and sizes that are not quite the catalogue's, the bases on the board
tell, so that only differences count (`evidence`). One base tells a height to half a hundredth of D or so, four to half
of that: under hills close to the camera it settles what their look leaves open.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

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
from overruler.vision.terrain.standing_on import detection_at_height, probability_on

MIN_PROBABILITY = 0.02
"""Ground that is less likely raised, when all is weighed, is left out."""
MAX_BASES = 12
"""So many bases of an area, and on the board, the surest, are measured."""
ITERATIONS = 2
"""The rims are looked for again where the height found in the round before has them."""
GROUND_EDGE_SIGMA_PX = 0.3
"""1 σ of how far edges of bases on a hill lie outside of those on the mat: its ground has another brightness."""
GRID_SIGMAS, GRID_STEPS, MAX_HEIGHT_SHARE = 3.5, 141, 0.5
"""Heights are tried so far to both sides of what is thought beforehand, in so many steps, but no higher than this share
of the camera's own."""
MAX_NATS_PER_BASE = 3.0
"""No base says more than this for or against an area: its rim may be taken for another."""


def heights_from_base_sizes(
    frame: Frame,
    calibration: Calibration,
    detections: Sequence[Detection],
    areas: Sequence[RaisedArea],
) -> tuple[RaisedArea, ...]:
    """The areas, those with round bases on them as high, and as likely, as these look; unlikely ones are left out.

    `detections` are as found on the board.
    """
    plain = [d for d in detections if _is_usable(d)]
    placed = [_area_if_raised(calibration, one, areas) for one in plain]
    on = [
        [one for one, under in zip(plain, placed, strict=True) if under is area]
        for area in (None, *areas)
    ]
    surest = _select_surest(on[0]) if any(on[1:]) else []
    beside = [ring for one in surest if (ring := _measure_rim(frame, calibration, one)) is not None]
    weighed = (
        _weigh_area(frame, calibration, area, _select_surest(some), beside)
        for area, some in zip(areas, on[1:], strict=True)
    )
    return tuple(area for area in weighed if area.probability > MIN_PROBABILITY)


def _select_surest(detections: Sequence[Detection]) -> list[Detection]:
    return sorted(detections, key=lambda one: (bool(one.alternative_bases), -one.visible))[
        :MAX_BASES
    ]


def _is_usable(detection: Detection) -> bool:
    return detection.base.shape == "circle" and detection.visible >= MIN_VISIBLE_SHARE


def _area_if_raised(
    calibration: Calibration, detection: Detection, areas: Sequence[RaisedArea]
) -> RaisedArea | None:
    """The area that a piece stands on if that is raised at all; the likeliest, None where it stands on none."""
    sure = [
        (probability_on(calibration.camera, detection, area) / max(area.probability, 1e-9), area)
        for area in areas
    ]
    chance, area = max(sure, key=lambda pair: pair[0], default=(0.0, None))
    return area if chance > 0.5 else None


def _weigh_area(
    frame: Frame,
    calibration: Calibration,
    area: RaisedArea,
    on: Sequence[Detection],
    beside: Sequence[RimMeasurement],
) -> RaisedArea:
    """One area by the bases that stand on it, and by the rims of those that stand on the board."""
    height, sigma, nats, eye_mm = (
        area.top_z_mm,
        area.sigma_mm,
        0.0,
        float(calibration.camera.center_mm[2]),
    )
    for _ in range(ITERATIONS):
        above = [
            ring
            for one in on
            if (ring := _measure_at_height(frame, calibration, one, height)) is not None
        ]
        if not above:
            return area
        raised = np.repeat([1.0, 0.0], [len(above), len(beside)])
        height, sigma, nats = height_posterior(
            RimSizes([*above, *beside], raised, eye_mm, calibration.covariance), area
        )
    limit = MAX_NATS_PER_BASE * len(above)
    odds = (
        area.probability
        / max(1 - area.probability, 1e-9)
        * float(np.exp(np.clip(nats, -limit, limit)))
    )
    return replace(area, top_z_mm=height, sigma_mm=sigma, probability=odds / (1 + odds))


def _measure_at_height(
    frame: Frame, calibration: Calibration, detection: Detection, height_mm: float
) -> RimMeasurement | None:
    """The rim of a base as large as on the board: looked for there and at a height.

    Where both looks reach the same edges they should say the same; else the clearer one is taken.
    """
    eye_mm, radius = float(calibration.camera.center_mm[2]), detection.base.width_mm / 2
    looks = []
    for z in (0.0, height_mm):
        ring = _measure_rim(
            frame, calibration, detection_at_height(calibration.camera, detection, z)
        )
        if ring is not None:
            grown = eye_mm / (eye_mm - z)
            larger = (radius + ring.radius_excess_mm) * grown - radius
            looks.append(replace(ring, radius_excess_mm=larger, sigma_mm=ring.sigma_mm * grown))
    if not looks:
        return None
    best, other = min(looks, key=_sigma), max(looks, key=_sigma)
    apart = abs(best.radius_excess_mm - other.radius_excess_mm)
    near = apart < 2 * SEARCH_REACH_SIGMAS * EDGE_SIGMA_PX * best.mm_per_px
    return replace(best, sigma_mm=float(np.hypot(best.sigma_mm, apart))) if near else best


def _measure_rim(
    frame: Frame, calibration: Calibration, detection: Detection
) -> RimMeasurement | None:
    """The rim of one base; where its size is open, it may be larger or smaller by what that adds to its doubt."""
    ring = measure_rim(frame, calibration, detection)
    if ring is None or not detection.alternative_bases:
        return ring
    return replace(
        ring,
        sigma_mm=float(np.hypot(ring.sigma_mm, np.sqrt(np.trace(detection.unmodelled_mm2) / 2))),
    )


def _sigma(ring: RimMeasurement) -> float:
    return ring.sigma_mm


@dataclass(frozen=True, slots=True, eq=False)
class RimSizes:
    """How large bases look, some of them on one area."""

    rings: Sequence[RimMeasurement]
    raised: Array
    """(N,): 1 for those on the area, else 0."""
    eye_mm: float
    camera_covariance: Array
    """(15, 15): the camera's covariance."""

    def residuals(self, height_mm: Array) -> Array:
        """By how much (..., N) radii seen on the board exceed the measured ones, for heights (...) of the area."""
        share = (np.asarray(height_mm) / (self.eye_mm - height_mm))[..., None]
        radius = np.array([ring.diameter_mm / 2 for ring in self.rings])
        return np.asarray(measures_of(self.rings).innovation + share * radius * self.raised)

    def log_likelihood(self, height_mm: Array) -> Array:
        """The logarithm (...) of how likely what is measured is, but for a constant."""
        off = self.residuals(height_mm)
        return np.asarray(
            -0.5 * np.sum(off @ np.linalg.inv(self.residual_covariance()) * off, axis=-1)
        )

    def residual_covariance(self) -> Array:
        """(N, N): the covariance of the surprises."""
        shift = (
            GROUND_EDGE_SIGMA_PX * self.raised * np.array([ring.mm_per_px for ring in self.rings])
        )
        return measures_of(self.rings).innovation_covariance(self.camera_covariance) + np.outer(
            shift, shift
        )

    def without_outliers(self, height_mm: Array) -> "RimSizes":
        """Without those that the others contradict, whichever of the heights (H,) is true; the worst one at a time."""
        kept = self
        while len(kept.rings) > 1:
            off = kept.residuals(height_mm[kept.log_likelihood(height_mm).argmax()])
            worst = find_worst_outlier(off, kept.residual_covariance())
            if worst is None:
                break
            kept = kept._without(worst)
        return kept

    def _without(self, k: int) -> "RimSizes":
        return replace(
            self, rings=[*self.rings[:k], *self.rings[k + 1 :]], raised=np.delete(self.raised, k)
        )


def height_posterior(looks: RimSizes, area: RaisedArea) -> tuple[float, float, float]:
    """An area's height and 1 σ of it, in mm, and by how many nats the bases speak for its being raised.

    Beforehand the logarithm of the height is normal, for nothing that is raised has none: it is told by its middle.
    """
    steps = np.linspace(-GRID_SIGMAS, GRID_SIGMAS, GRID_STEPS)
    heights = np.minimum(
        area.top_z_mm * np.exp(area.sigma_mm / area.top_z_mm * steps),
        MAX_HEIGHT_SHARE * looks.eye_mm,
    )
    before = np.exp(-0.5 * steps**2)
    looks = looks.without_outliers(np.append(heights, 0.0))
    nats = looks.log_likelihood(heights)
    weight = before / before.sum() * np.exp(nats - nats.max())
    for_it = float(np.log(weight.sum()) + nats.max() - looks.log_likelihood(np.array(0.0)))
    weight = weight / weight.sum()
    logs = np.log(heights)
    middle = float(weight @ logs)
    height = float(np.exp(middle))
    return height, height * float(np.sqrt(weight @ (logs - middle) ** 2)), for_it
