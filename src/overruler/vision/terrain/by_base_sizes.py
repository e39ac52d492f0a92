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
from overruler.detections import Detection, Raised
from overruler.frame import Frame
from overruler.geometry.pose import Array
from overruler.vision.camera.measurement_update import contradicted
from overruler.vision.refinement.base_scale import EDGE_PX, LEAST_VISIBLE, REACH, Ring, measured, measures_of
from overruler.vision.terrain.standing_on import chance_on, moved_to

LEAST_CHANCE = 0.02
"""Ground that is less likely raised, when all is weighed, is left out."""
MOST = 12
"""So many bases of an area, and on the board, the surest, are measured."""
ROUNDS = 2
"""The rims are looked for again where the height found in the round before has them."""
GROUND_PX = 0.3
"""1 σ of how far edges of bases on a hill lie outside of those on the mat: its ground has another brightness."""
SIGMAS, STEPS, HIGHEST = 3.5, 141, 0.5
"""Heights are tried so far to both sides of what is thought beforehand, in so many steps, but no higher than this share
of the camera's own."""
NATS_A_BASE = 3.0
"""No base says more than this for or against an area: its rim may be taken for another."""


def by_sizes(
    frame: Frame, calibration: Calibration, detections: Sequence[Detection], areas: Sequence[Raised]
) -> tuple[Raised, ...]:
    """The areas, those with round bases on them as high, and as likely, as these look; unlikely ones are left out.

    `detections` are as found on the board.
    """
    plain = [d for d in detections if _plain(d)]
    placed = [_area_of(calibration, one, areas) for one in plain]
    on = [[one for one, under in zip(plain, placed, strict=True) if under is area] for area in (None, *areas)]
    surest = _surest(on[0]) if any(on[1:]) else []
    beside = [ring for one in surest if (ring := _ring(frame, calibration, one)) is not None]
    weighed = (
        _weighed(frame, calibration, area, _surest(some), beside) for area, some in zip(areas, on[1:], strict=True)
    )
    return tuple(area for area in weighed if area.probability > LEAST_CHANCE)


def _surest(detections: Sequence[Detection]) -> list[Detection]:
    return sorted(detections, key=lambda one: (bool(one.also), -one.visible))[:MOST]


def _plain(detection: Detection) -> bool:
    return detection.base.shape == "circle" and detection.visible >= LEAST_VISIBLE


def _area_of(calibration: Calibration, detection: Detection, areas: Sequence[Raised]) -> Raised | None:
    """The area that a piece stands on if that is raised at all; the likeliest, None where it stands on none."""
    sure = [(chance_on(calibration.camera, detection, area) / max(area.probability, 1e-9), area) for area in areas]
    chance, area = max(sure, key=lambda pair: pair[0], default=(0.0, None))
    return area if chance > 0.5 else None


def _weighed(
    frame: Frame, calibration: Calibration, area: Raised, on: Sequence[Detection], beside: Sequence[Ring]
) -> Raised:
    """One area by the bases that stand on it, and by the rims of those that stand on the board."""
    height, sigma, nats, eye_mm = area.top_z_mm, area.sigma_mm, 0.0, float(calibration.camera.center_mm[2])
    for _ in range(ROUNDS):
        above = [ring for one in on if (ring := _look(frame, calibration, one, height)) is not None]
        if not above:
            return area
        raised = np.repeat([1.0, 0.0], [len(above), len(beside)])
        height, sigma, nats = posterior(Looks([*above, *beside], raised, eye_mm, calibration.covariance), area)
    limit = NATS_A_BASE * len(above)
    odds = area.probability / max(1 - area.probability, 1e-9) * float(np.exp(np.clip(nats, -limit, limit)))
    return replace(area, top_z_mm=height, sigma_mm=sigma, probability=odds / (1 + odds))


def _look(frame: Frame, calibration: Calibration, detection: Detection, height_mm: float) -> Ring | None:
    """The rim of a base as large as on the board: looked for there and at a height.

    Where both looks reach the same edges they should say the same; else the clearer one is taken.
    """
    eye_mm, radius = float(calibration.camera.center_mm[2]), detection.base.width_mm / 2
    looks = []
    for z in (0.0, height_mm):
        ring = _ring(frame, calibration, moved_to(calibration.camera, detection, z))
        if ring is not None:
            grown = eye_mm / (eye_mm - z)
            larger = (radius + ring.larger_mm) * grown - radius
            looks.append(replace(ring, larger_mm=larger, sigma_mm=ring.sigma_mm * grown))
    if not looks:
        return None
    best, other = min(looks, key=_sigma), max(looks, key=_sigma)
    apart = abs(best.larger_mm - other.larger_mm)
    near = apart < 2 * REACH * EDGE_PX * best.mm_per_px
    return replace(best, sigma_mm=float(np.hypot(best.sigma_mm, apart))) if near else best


def _ring(frame: Frame, calibration: Calibration, detection: Detection) -> Ring | None:
    """The rim of one base; where its size is open, it may be larger or smaller by what that adds to its doubt."""
    ring = measured(frame, calibration, detection)
    if ring is None or not detection.also:
        return ring
    return replace(ring, sigma_mm=float(np.hypot(ring.sigma_mm, np.sqrt(np.trace(detection.beyond_mm2) / 2))))


def _sigma(ring: Ring) -> float:
    return ring.sigma_mm


@dataclass(frozen=True, slots=True, eq=False)
class Looks:
    """How large bases look, some of them on one area."""

    rings: Sequence[Ring]
    raised: Array
    """(N,): 1 for those on the area, else 0."""
    eye_mm: float
    camera: Array
    """(15, 15): the camera's covariance."""

    def surprise(self, height_mm: Array) -> Array:
        """By how much (..., N) radii seen on the board exceed the measured ones, for heights (...) of the area."""
        share = (np.asarray(height_mm) / (self.eye_mm - height_mm))[..., None]
        radius = np.array([ring.diameter_mm / 2 for ring in self.rings])
        return np.asarray(measures_of(self.rings).surprise + share * radius * self.raised)

    def nats(self, height_mm: Array) -> Array:
        """The logarithm (...) of how likely what is measured is, but for a constant."""
        off = self.surprise(height_mm)
        return np.asarray(-0.5 * np.sum(off @ np.linalg.inv(self.expected()) * off, axis=-1))

    def expected(self) -> Array:
        """(N, N): the covariance of the surprises."""
        shift = GROUND_PX * self.raised * np.array([ring.mm_per_px for ring in self.rings])
        return measures_of(self.rings).expected(self.camera) + np.outer(shift, shift)

    def agreeing(self, height_mm: Array) -> "Looks":
        """Without those that the others contradict, whichever of the heights (H,) is true; the worst one at a time."""
        kept = self
        while len(kept.rings) > 1:
            off = kept.surprise(height_mm[kept.nats(height_mm).argmax()])
            worst = contradicted(off, kept.expected())
            if worst is None:
                break
            kept = kept._without(worst)
        return kept

    def _without(self, k: int) -> "Looks":
        return replace(self, rings=[*self.rings[:k], *self.rings[k + 1 :]], raised=np.delete(self.raised, k))


def posterior(looks: Looks, area: Raised) -> tuple[float, float, float]:
    """An area's height and 1 σ of it, in mm, and by how many nats the bases speak for its being raised.

    Beforehand the logarithm of the height is normal, for nothing that is raised has none: it is told by its middle.
    """
    steps = np.linspace(-SIGMAS, SIGMAS, STEPS)
    heights = np.minimum(area.top_z_mm * np.exp(area.sigma_mm / area.top_z_mm * steps), HIGHEST * looks.eye_mm)
    before = np.exp(-0.5 * steps**2)
    looks = looks.agreeing(np.append(heights, 0.0))
    nats = looks.nats(heights)
    weight = before / before.sum() * np.exp(nats - nats.max())
    for_it = float(np.log(weight.sum()) + nats.max() - looks.nats(np.array(0.0)))
    weight = weight / weight.sum()
    logs = np.log(heights)
    middle = float(weight @ logs)
    height = float(np.exp(middle))
    return height, height * float(np.sqrt(weight @ (logs - middle) ** 2)), for_it
