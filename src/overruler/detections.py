"""Detections in a photo: bases with their positions on the board, raised areas, and rulers."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from overruler.bases import Base
from overruler.geometry.pose import Array
from overruler.units import SIGMAS_95

CONFIRMING_SHARE = 0.01
"""Largest doubt of a ruler's reading that confirms the scale, as a share: a page printed to fit is 3 % off."""


@dataclass(frozen=True, slots=True, eq=False)
class Detection:
    """A base fitted in the photo's pixels.

    Covariances are of (x, y) in the board frame.
    """

    base: Base
    xy_mm: Array
    """(2,): centre of its underside in the board frame."""
    z_mm: float
    """Height of its underside above the board."""
    heading_deg: float
    """Counter-clockwise from +x."""
    covariance_mm2: Array
    """(2, 2): covariance of the fit, given the camera."""
    d_xy_d_camera: Array
    """(2, 15): Jacobian of the position by the camera's parameters.

    It correlates all pieces of a photo."""
    score: float
    """How much it looks like a base, 0 to 1."""
    visible: float
    """Visible share of the rim, 0 to 1."""
    center_px: Array = field(default_factory=lambda: np.zeros(2))
    """(2,): centre of the underside in the photo; computed by reprojection, as is `outline_px`."""
    outline_px: Array = field(default_factory=lambda: np.zeros((0, 2)))
    """(K, 2): edge of the underside in the photo."""
    alternative_bases: tuple[Base, ...] = ()
    """Other bases that fit nearly as well, where the size is ambiguous."""
    heading_modulo_deg: float = 360.0
    """Period of the heading's ambiguity: 90 where a square's sides are seen but its front is not."""
    other_headings: tuple[tuple[float, float], ...] = ()
    """Alternative headings in degrees, each with its probability."""
    standing_on: str | None = None
    """Id of the raised area that it stands on; None for the board."""
    sigma_z_mm: float = 0.0
    """1 σ of its height, in excess of that of any base on the board."""
    unmodelled_mm2: Array = field(default_factory=lambda: np.zeros((2, 2)))
    """(2, 2): covariance that the fit does not model: a wrong size, or a wrong optimum."""
    rare_excess_mm2: Array = field(default_factory=lambda: np.zeros((2, 2)))
    """(2, 2): extra covariance in the rare alternative, which every certain call must survive."""
    measured_on_lit_side: bool = False
    """Whether it was measured by its lit side, where its own shadow does not bias the fit."""
    learned_radius_mm: tuple[float, float] | None = None
    """Radius by the neural network and 1 σ of it, as seen on the plane of the search."""
    shared_shifts_mm: Mapping[str, Array] = field(default_factory=dict)
    """Shift (2,) of the position by 1 σ of each error shared with other pieces of the photo."""
    rare_shifts_mm: Mapping[str, Array] = field(default_factory=dict)
    """Shift (2,) by 1 σ of each shared error in the rare alternative, where it is larger."""
    clutter_score: float | None = None
    """Score where much lies about that is no base, 0 to 1; None where it was not asked for."""
    in_play_probability: float | None = None
    """Probability of a base if the photo shows a table in play; None where it was not asked for."""
    is_confirmed: bool = False
    """Whether a person said that it is a piece."""
    is_seen: bool = True
    """Whether the photo shows it; otherwise it stands where a person said."""

    @property
    def turn_rad(self) -> float:
        return float(np.radians(self.heading_deg))

    def with_added_covariance(self, usual_mm2: Array, rare_mm2: Array) -> "Detection":
        """Add covariance (2, 2) that the fit does not model, for the usual case and the rare one."""
        return replace(
            self,
            covariance_mm2=self.covariance_mm2 + usual_mm2,
            unmodelled_mm2=self.unmodelled_mm2 + usual_mm2,
            rare_excess_mm2=self.rare_excess_mm2 + rare_mm2 - usual_mm2,
        )


@dataclass(frozen=True, slots=True, eq=False)
class RaisedArea:
    """An area above the board with a flat top that pieces may stand on, detected or declared."""

    id: str
    footprint_mm: Array
    """(K, 2): outline of its top in the board frame."""
    top_z_mm: float
    """Height of the top above the board."""
    sigma_mm: float
    """1 σ of `top_z_mm`."""
    probability: float = 1.0
    """Probability that it is raised and not printed on the mat."""
    usual_sigma_share: float = 1.0
    """1 σ of the usual errors of such heights, as a share of `sigma_mm`; the rest covers rare errors."""
    edge_mm: float = 2.0
    """1 σ of the position of its outline."""
    base_z_mm: float = 0.0
    """Height of the ground that it stands on."""
    rough: bool = False
    """Whether the game's rules for rough ground hold on it."""
    size: int = 1
    """Size class in the game's rules."""
    is_declared: bool = False
    """Whether somebody declared it, so that `id` is the name that people know."""


@dataclass(frozen=True, slots=True, eq=False)
class DetectedRuler:
    """A range ruler in the photo, measured by the markers."""

    kind: str
    """Type of the ruler."""
    nominal_mm: float
    """Nominal length of a segment."""
    segment_mm: float
    """Measured length of a segment."""
    sigma_mm: float
    """1 σ of `segment_mm`."""
    path_mm: Array
    """(segments + 1, 2): one end, the joints and the other end, along the centre line of its face."""
    width_mm: float
    """Width of its face."""
    line_contrast: float
    """Contrast of its cross lines over that of whatever else crosses it."""

    @property
    def nominal_length_mm(self) -> float:
        return self.nominal_mm * (len(self.path_mm) - 1)

    @property
    def is_sure(self) -> bool:
        """Whether its reading tells of the scale: in a blurred picture what looks like a ruler agrees with any."""
        return SIGMAS_95 * self.sigma_mm <= CONFIRMING_SHARE * self.nominal_mm


def ruler_to_json(ruler: DetectedRuler) -> dict[str, Any]:
    """The joints are those between segments; the ends stand by themselves."""
    path = np.round(ruler.path_mm, 3).tolist()
    return {
        "kind": ruler.kind,
        "segment_mm": round(ruler.segment_mm, 4),
        "sigma_mm": round(ruler.sigma_mm, 4),
        "joints_mm": path[1:-1],
        "ends_mm": [path[0], path[-1]],
    }
