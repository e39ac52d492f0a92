"""Fit a hexagon in all photos that see it: one width, one heading, and a place in each photo.

The places of a base by several photos differ by their cameras' errors, so the joint fit of all bases
makes one of them. The width and the heading hang on no camera: what all photos say is added up.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from overruler.bases import Base
from overruler.detections import Detection
from overruler.geometry.pose import Array
from overruler.vision.contours.rare_events import MIN_RIM_WEIGHT
from overruler.vision.contours.reproject import reproject_outline
from overruler.vision.fusion.heading import fuse_headings
from overruler.vision.fusion.hexagons.seen_rim import SeenRim, add_alike
from overruler.vision.hexagons.find import HEADING_SIGMA, PLACE_SIGMA_MM
from overruler.vision.hexagons.widths import fit_widths, nats_by_radius
from overruler.vision.pairing.sighting import Sighting
from overruler.vision.pairing.sizes import radius_at_mm
from overruler.vision.rounds.oval_edge_fit import (
    WHOLE_OUTLINE_NATS,
    OvalFit,
    PosePrior,
    fit_oval,
)

KNOWN_HEADING_SIGMA = 0.1
"""1 σ of a heading by other photos, in rad. On five rendered tables 95 % of the headings of 83 hexagons were
right to 2.2°, and to 2.6° with half of it."""


@dataclass(frozen=True, slots=True, eq=False)
class FittedWidths:
    """A rim with fits of all widths that it may have."""

    rim: SeenRim
    widths_mm: Sequence[float]
    """(C,): all widths that are looked for."""
    fits: Mapping[int, Mapping[int, OvalFit]]
    """By the width's index, then by the number of the base's sighting."""

    @classmethod
    def of(cls, rim: SeenRim, widths_mm: Sequence[float]) -> "FittedWidths":
        """Fit a hexagon of each width in the photos that tell its sides, or in all where none does."""
        fits: dict[int, dict[int, OvalFit]] = {}
        for m in rim.telling or rim.evidence:
            one = rim.base.sightings[m]
            start = _start(one, rim.heading_rad, HEADING_SIGMA)
            pixels, camera = one.photo.frame.pixels, one.photo.calibration.camera
            found = fit_widths(pixels, camera, start, one.detection.z_mm, rim.width_mm, widths_mm)
            for size, fit in found.items():
                fits.setdefault(size, {})[m] = fit
        return cls(rim, widths_mm, fits)

    def log_likelihoods(self) -> Array:
        """The log likelihoods (C,) of its widths: by what all fits see, and by the radii measured."""
        nats = np.full(len(self.widths_mm), -np.inf)
        tried = {m for some in self.fits.values() for m in some}
        for size, some in self.fits.items():
            nats[size] = add_alike([_nats(some.get(m)) for m in tried])
        return nats + self._nats_by_radius()

    def _nats_by_radius(self) -> Array:
        """The same by the mean radius: that the network knows no hexagons misleads all photos alike."""
        z_mm = float(self.rim.base.xyz_mm[2])
        seen = [
            radius_at_mm(one, z_mm)
            for one in self.rim.base.sightings
            if one.detection.learned_radius_mm is not None
        ]
        if not seen:
            return np.zeros(len(self.widths_mm))
        radii, sigmas = np.array(seen).T
        information = sigmas**-2
        mean_mm = float(information @ radii / information.sum())
        return nats_by_radius(mean_mm, float(information.sum() ** -0.5), self.widths_mm)

    def sightings(self, size: int) -> list[Sighting]:
        """The sightings as hexagons of a width.

        Photos whose pixels are too few to tell the heading are fitted with that by the others.
        """
        seen = self.rim.base.sightings
        told = {m: _as_hexagon(seen[m], fit) for m, fit in self.fits[size].items()}
        turn_rad = float(np.radians(fuse_headings([*told.values()]).heading_deg))
        base = Base.hexagon(self.widths_mm[size])
        return [told.get(m) or _fit_again(one, base, turn_rad) for m, one in enumerate(seen)]


def _nats(fit: OvalFit | None) -> float:
    return 0.0 if fit is None else WHOLE_OUTLINE_NATS * fit.merit


def _start(one: Sighting, turn_rad: float, turn_sigma: float) -> PosePrior:
    pose = np.array([*one.detection.xy_mm, turn_rad])
    return PosePrior(pose, np.array([PLACE_SIGMA_MM, PLACE_SIGMA_MM, turn_sigma]))


def _fit_again(one: Sighting, base: Base, turn_rad: float) -> Sighting:
    """A sighting with the fit of a hexagon with a known heading; as it was where nothing is seen."""
    start = _start(one, turn_rad, KNOWN_HEADING_SIGMA)
    pixels, camera = one.photo.frame.pixels, one.photo.calibration.camera
    fit = fit_oval(pixels, camera, start, base, one.detection.z_mm)
    return one if fit is None else _as_hexagon(one, fit)


def _as_hexagon(one: Sighting, fit: OvalFit) -> Sighting:
    """A sighting with its detection as a fitted hexagon.

    Where it lies apart from the round base, one of the two fits went astray.
    """
    found, modulo = one.detection, fit.base.heading_modulo_deg
    apart_mm = fit.xy_mm - found.xy_mm
    none = np.zeros((2, 2))
    made: Detection = replace(
        found,
        base=fit.base,
        alternative_bases=(),
        xy_mm=fit.xy_mm,
        heading_deg=float(np.degrees(fit.turn_rad) % modulo),
        heading_modulo_deg=modulo,
        covariance_mm2=fit.covariance_mm2,
        unmodelled_mm2=none,
        rare_excess_mm2=none,
        d_xy_d_camera=fit.d_xy_d_camera,
        visible=float(np.mean(fit.seen > MIN_RIM_WEIGHT)),
        measured_on_lit_side=False,
    )
    doubt_mm2 = np.outer(apart_mm, apart_mm)
    made = made.with_added_covariance(doubt_mm2, doubt_mm2)
    return one.with_detection(reproject_outline(one.photo.calibration.camera, made))
