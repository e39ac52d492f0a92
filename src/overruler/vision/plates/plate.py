"""A square that may be a plate: its features, its probability, and its detection."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from overruler.bases import Base
from overruler.detections import Detection
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.contours.cone_fit import camera_jacobian
from overruler.vision.contours.outlines import penetration_depth_mm
from overruler.vision.contours.overlap_choice import make_detection
from overruler.vision.contours.radial_edges import LabPatch
from overruler.vision.contours.rare_events import RARE_WITHIN_SIGMAS
from overruler.vision.learned.coefficients import load_coefficients
from overruler.vision.learned.logits import sigmoid
from overruler.vision.plates.fine_grid import PlateFit
from overruler.vision.plates.heading_net import Heading
from overruler.vision.plates.sides import UNIT_CORNERS, side_normals

LOGIT_WEIGHTS = tuple(load_coefficients("plate_score").values())
"""Weights of a plate's log odds; the file names the features."""
AMBIGUOUS_LOGIT_GAP = 2.9
"""Smallest gap of log odds that rules an alternative out: one in twenty."""
CONFIDENT_LOGIT = 12.0
"""Log odds, with the face's counted twice, from which no misfit is expected: of 1021 such plates on
64 rendered tables none was 1.6 mm off; of the 98 others four were 3 mm off or more."""
MAX_MISFIT_MM = 7.0
"""Rare error of the others along each axis (`docs/plates.md`), within `RARE_WITHIN_SIGMAS`."""
MIN_SIDE_SEEN = 0.3
"""Smallest evidence of a visible side."""
MIN_JACOBIAN_WEIGHT = 0.05
"""Smallest weight of a side in the derivative over the camera."""
MAX_OVERLAP_SHARE = 0.12
"""Largest apparent overlap of two plates, as a share of the smaller side."""


def plate_log_odds(features: Sequence[float]) -> float:
    """Return the log odds of a plate, by all features or the first of them."""
    return float(np.dot(LOGIT_WEIGHTS[: 1 + len(features)], [1.0, *features]))


def plate_probability(features: Sequence[float]) -> float:
    """Return the probability that a square is a plate."""
    return float(sigmoid(plate_log_odds(features)))


@dataclass(frozen=True, slots=True, eq=False)
class Plate:
    """A square that may be a plate."""

    fit: PlateFit
    """Its pose."""
    heading: Heading
    """Its heading, as far as it is known."""
    features: tuple[float, ...]
    """Features of the coarse fit, in the order of `LOGIT_WEIGHTS`."""
    view: LabPatch
    """The photo around it."""
    other_sides_mm: tuple[float, ...]
    """Other sides that it may have."""

    @property
    def score(self) -> float:
        """The probability that it is a plate."""
        return plate_probability(self.features)

    @property
    def is_confident(self) -> bool:
        """Whether no misfit is expected."""
        return plate_log_odds(self.features) + self.features[-1] >= CONFIDENT_LOGIT

    @property
    def base(self) -> Base:
        return Base.rectangle(self.fit.side_mm, self.fit.side_mm)

    @property
    def xy_mm(self) -> Array:
        return self.fit.xy_mm

    @property
    def turn_rad(self) -> float:
        return self.heading.turn_rad

    @property
    def corners_mm(self) -> Array:
        """(4, 2): of the underside."""
        half_sides = UNIT_CORNERS @ side_normals(self.turn_rad)[:2]
        return np.asarray(self.fit.xy_mm + self.fit.side_mm / 2 * half_sides)


def suppress_overlaps(plates: Iterable[Plate]) -> list[Plate]:
    """Return the plates that can coexist, the surest first, without print on larger cards."""
    candidates = list(plates)
    kept: list[Plate] = []
    for plate in sorted(candidates, key=lambda plate: -plate.score):
        is_print = any(_is_card_print(plate, other) for other in candidates)
        if not is_print and not any(_overlap(plate, other) for other in kept):
            kept.append(plate)
    return kept


def _overlap(one: Plate, other: Plate) -> bool:
    depth_mm = penetration_depth_mm(one.corners_mm, other.corners_mm)
    return depth_mm >= MAX_OVERLAP_SHARE * min(one.fit.side_mm, other.fit.side_mm)


def _is_card_print(small: Plate, large: Plate) -> bool:
    """Return whether a square lies within a larger one that is not much less likely."""
    if small.fit.side_mm >= large.fit.side_mm:
        return False
    if plate_log_odds(small.features) > plate_log_odds(large.features) + AMBIGUOUS_LOGIT_GAP:
        return False
    inside = (small.corners_mm - large.fit.xy_mm) @ side_normals(large.turn_rad)[:2].T
    limit_mm = large.fit.side_mm / 2 + MAX_OVERLAP_SHARE * small.fit.side_mm
    return bool(np.abs(inside).max() <= limit_mm)


def plate_detection(camera: Camera, plate: Plate) -> Detection:
    """Return the detection of a plate."""
    fit = plate.fit
    normals = side_normals(fit.turn_rad)
    middles = fit.xy_mm + fit.side_mm / 2 * normals
    weights = np.clip(fit.seen, MIN_JACOBIAN_WEIGHT, 1)
    slopes = camera_jacobian(plate.view, middles, normals, weights)
    covariance = fit.covariance_mm2 + _misfit_covariance(plate)
    visible = float(np.mean(fit.seen > MIN_SIDE_SEEN))
    others = tuple(Base.rectangle(side_mm, side_mm) for side_mm in plate.other_sides_mm)
    detection = make_detection(camera, plate, covariance, slopes, plate.score, visible, others)
    headings = plate.heading.others
    return replace(
        detection,
        heading_deg=_to_degrees(plate.turn_rad),
        heading_modulo_deg=plate.heading.modulo_deg,
        other_headings=tuple((_to_degrees(turn), chance) for turn, chance in headings),
    )


def _misfit_covariance(plate: Plate) -> Array:
    """Return the covariance (2, 2) of a misfit, and of another size, whose edges lie elsewhere."""
    changes = [abs(side_mm - plate.fit.side_mm) / 2 for side_mm in plate.other_sides_mm]
    edge_mm = max(changes, default=0.0)
    misfit_mm = 0.0 if plate.is_confident else MAX_MISFIT_MM
    return np.eye(2) * (edge_mm**2 + misfit_mm**2) / RARE_WITHIN_SIGMAS**2


def _to_degrees(turn_rad: float) -> float:
    return float(np.degrees(turn_rad) % 360)
