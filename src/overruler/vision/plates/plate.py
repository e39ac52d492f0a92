"""A square that may be a plate: its features, its probability, and its detection."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from overruler.bases import Base
from overruler.detections import Detection
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.contours.cone_fit import camera_jacobian
from overruler.vision.contours.overlap_choice import make_detection
from overruler.vision.contours.radial_edges import LabPatch
from overruler.vision.contours.rare_events import RARE_WITHIN_SIGMAS
from overruler.vision.learned.coefficients import load_coefficients
from overruler.vision.learned.logits import sigmoid
from overruler.vision.plates.fine_grid import PlateFit
from overruler.vision.plates.heading_net import Heading
from overruler.vision.plates.rivals import AMBIGUOUS_LOGIT_GAP, Rival, rival_covariances
from overruler.vision.plates.sides import UNIT_CORNERS, side_normals

LOGIT_WEIGHTS = tuple(load_coefficients("plate_score").values())
"""Weights of a plate's log odds; the file names the features."""
CONFIDENT_LOGIT = 12.0
"""Log odds, with the face's counted twice, from which no misfit is expected: of 1021 such plates on
64 rendered tables none was 1.6 mm off; of the 98 others four were 3 mm off or more."""
CONFIDENT_HIDDEN_LOGIT = 16.0
"""The same for a plate with a hidden side: one on a table that taught nothing had 12.2, two hidden
sides, and was 7 mm off."""
HIDDEN_SIDE_SEEN = 0.1
"""Evidence of a side below which it is hidden."""
MISFIT_SIGMA_MM = 0.5
"""Usual 1 σ added along each axis to the others: of 138 on 104 crowded tables one in twenty is 2.2 mm
off."""
MAX_MISFIT_MM = 10.0
"""Rare error of the others along each axis (`docs/plates.md`), within `RARE_WITHIN_SIGMAS`. The worst
of 138 was 3 mm off, one under the wings of another renderer's ship 6 mm."""
MIN_SIDE_SEEN = 0.3
"""Smallest evidence of a visible side."""
MIN_JACOBIAN_WEIGHT = 0.05
"""Smallest weight of a side in the derivative over the camera."""


def plate_log_odds(features: Sequence[float]) -> float:
    """Return the log odds of a plate, by all features or the first of them."""
    return float(np.dot(LOGIT_WEIGHTS[: 1 + len(features)], [1.0, *features]))


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
    rivals: tuple[Rival, ...]
    """Other squares that the same guess may stand for."""

    @property
    def log_odds(self) -> float:
        """The log odds of a plate against no plate."""
        return plate_log_odds(self.features)

    @property
    def score(self) -> float:
        """The probability that it is a plate, without its rivals."""
        return float(sigmoid(self.log_odds))

    @property
    def as_rival(self) -> Rival:
        return Rival(self.fit.xy_mm, self.fit.side_mm, self.log_odds)

    @property
    def other_sides_mm(self) -> tuple[float, ...]:
        """Other sides that are nearly as likely."""
        least = self.log_odds - AMBIGUOUS_LOGIT_GAP
        likely = {rival.side_mm for rival in self.rivals if rival.log_odds > least}
        return tuple(sorted(likely - {self.fit.side_mm}))

    @property
    def is_confident(self) -> bool:
        """Whether no misfit is expected."""
        is_hidden = float(self.fit.seen.min()) < HIDDEN_SIDE_SEEN
        least = CONFIDENT_HIDDEN_LOGIT if is_hidden else CONFIDENT_LOGIT
        return self.log_odds + self.features[-1] >= least

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


def plate_detection(camera: Camera, plate: Plate, score: float) -> Detection:
    """Return the detection of a plate that is one with the probability `score`."""
    fit = plate.fit
    normals = side_normals(fit.turn_rad)
    middles = fit.xy_mm + fit.side_mm / 2 * normals
    weights = np.clip(fit.seen, MIN_JACOBIAN_WEIGHT, 1)
    slopes = camera_jacobian(plate.view, middles, normals, weights)
    visible = float(np.mean(fit.seen > MIN_SIDE_SEEN))
    others = tuple(Base.rectangle(side_mm, side_mm) for side_mm in plate.other_sides_mm)
    detection = make_detection(camera, plate, fit.covariance_mm2, slopes, score, visible, others)
    headings = plate.heading.others
    return replace(
        detection.with_added_covariance(*_misfit_covariances(plate)),
        heading_deg=_to_degrees(plate.turn_rad),
        heading_modulo_deg=plate.heading.modulo_deg,
        other_headings=tuple((_to_degrees(turn), chance) for turn, chance in headings),
    )


def _misfit_covariances(plate: Plate) -> tuple[Array, Array]:
    """Return the usual and the rare covariance (2, 2) of a misfit, and of the rivals."""
    fit = plate.fit
    usual, rare = rival_covariances(fit.xy_mm, fit.side_mm, plate.log_odds, plate.rivals)
    if plate.is_confident:
        return usual, rare
    usual = usual + np.eye(2) * MISFIT_SIGMA_MM**2
    return usual, rare + np.eye(2) * (MAX_MISFIT_MM / RARE_WITHIN_SIGMAS) ** 2


def _to_degrees(turn_rad: float) -> float:
    return float(np.degrees(turn_rad) % 360)
