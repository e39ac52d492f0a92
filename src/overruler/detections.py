"""What was found in one photo: bases, each with its place on the board and what it rests on."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from overruler.bases import Base
from overruler.geometry.pose import Array


@dataclass(frozen=True, slots=True, eq=False)
class Detection:
    """One base as fitted in the photo's own pixels."""

    base: Base
    xy_mm: Array
    """(2,): the centre of its underside."""
    z_mm: float
    heading_deg: float
    covariance_mm2: Array
    """(2, 2): the fit's own doubt of (x, y), the camera taken as exact."""
    d_xy_d_camera: Array
    """(2, 15): how the place moves with the camera's parameters; joins all pieces of a photo."""
    score: float
    """0 to 1: how much it looks like a base."""
    visible: float
    """Share of the rim that was seen, 0 to 1."""
    center_px: Array = field(default_factory=lambda: np.zeros(2))
    """(2,): the underside's centre in the photo; `drawn` finds it, and the next."""
    outline_px: Array = field(default_factory=lambda: np.zeros((0, 2)))
    """(K, 2): the underside's edge in the photo."""
    alternative_bases: tuple[Base, ...] = ()
    """Other sizes that fit nearly as well: the size is ambiguous."""
    heading_modulo_deg: float = 360.0
    """The heading is known but for multiples of this: 90 where a square's sides are seen and its front is not."""
    other_headings: tuple[tuple[float, float], ...] = ()
    """What the heading may be instead, in degrees, and how likely each is."""
    standing_on: str | None = None
    """The raised area that it stands on; None for the board."""
    sigma_z_mm: float = 0.0
    """1 σ of its height, beyond what every base has."""
    unmodelled_mm2: Array = field(default_factory=lambda: np.zeros((2, 2)))
    """(2, 2): what of its doubt no fit knows: it may be of another size, or the fit gone astray."""
    rare_excess_mm2: Array = field(default_factory=lambda: np.zeros((2, 2)))
    """(2, 2): how much larger its own doubt is where something unlikely holds: no call is certain against it."""
    measured_on_lit_side: bool = False
    """Whether it was measured by the side that faces the lamp, so that its own shade misleads nobody."""
    learned_radius_mm: tuple[float, float] | None = None
    """The radius that the learned look sees, as it appears on the plane that it was looked for on, and 1 σ of it."""
    shared_shifts_mm: Mapping[str, Array] = field(default_factory=dict)
    """Causes of doubt in common with other pieces of the photo: how far (2,) 1 σ of each moves the place."""
    rare_shifts_mm: Mapping[str, Array] = field(default_factory=dict)
    """How far (2,) those causes move it where something unlikely holds, if that is farther."""

    @property
    def turn_rad(self) -> float:
        return float(np.radians(self.heading_deg))

    def with_added_covariance(self, usual_mm2: Array, rare_mm2: Array) -> "Detection":
        """With more doubt (2, 2) that no fit knows: what there mostly is of it, and where something unlikely holds."""
        own, beyond = self.covariance_mm2 + usual_mm2, self.unmodelled_mm2 + usual_mm2
        return replace(
            self,
            covariance_mm2=own,
            unmodelled_mm2=beyond,
            rare_excess_mm2=self.rare_excess_mm2 + rare_mm2 - usual_mm2,
        )


@dataclass(frozen=True, slots=True, eq=False)
class RaisedArea:
    """An area above the board with a flat top that pieces may stand on: found in the photo, or told."""

    id: str
    footprint_mm: Array
    """(K, 2): the outline of its top, where it truly lies."""
    top_z_mm: float
    sigma_mm: float
    """1 σ of the top's height."""
    probability: float = 1.0
    """That it is raised at all, and no print on the mat."""
    usual_sigma_share: float = 1.0
    """How much of `sigma_mm` is 1 σ of the usual errors of heights like this one; the rest is for rare ones."""
    edge_mm: float = 2.0
    """1 σ of where its outline lies."""
    base_z_mm: float = 0.0
    rough: bool = False
    size: int = 1


@dataclass(frozen=True, slots=True, eq=False)
class DetectedRuler:
    """A range ruler that lies in the photo, as the markers measure it."""

    kind: str
    nominal_mm: float
    """What a segment should measure."""
    segment_mm: float
    """What it measures."""
    sigma_mm: float
    """1 σ of that."""
    path_mm: Array
    """(segments + 1, 2): one end, the joints, the other end, along the middle of its face."""
    width_mm: float
    line_contrast: float
    """How many times clearer its cross lines are than what else crosses it."""

    @property
    def nominal_length_mm(self) -> float:
        return self.nominal_mm * (len(self.path_mm) - 1)


def _ruler_json(ruler: DetectedRuler) -> dict[str, Any]:
    """The joints are those between segments; the ends stand by themselves."""
    path = np.round(ruler.path_mm, 3).tolist()
    return {
        "kind": ruler.kind,
        "segment_mm": round(ruler.segment_mm, 4),
        "sigma_mm": round(ruler.sigma_mm, 4),
        "joints_mm": path[1:-1],
        "ends_mm": [path[0], path[-1]],
    }
