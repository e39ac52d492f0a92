"""A base that several photos may see: where it may stand, on the board or at a height.

A hypothesis is a mixture of two Gaussians over (x, y, z): one for a base on the board, one for a
raised base. Each sighting updates both by Kalman's formulas. Two sightings from different sides
measure the height by parallax.
"""

from dataclasses import dataclass, replace

import numpy as np

from overruler.bases import Base
from overruler.geometry.pose import Array
from overruler.vision.pairing.sighting import SeenPhoto, Sighting

BOARD_SIGMA_MM = 0.3
"""1 σ of a base's height over the board that it stands on."""
RAISED_MEAN_MM = 40.0
"""Prior height of a raised base of which nothing is known."""
RAISED_SIGMA_MM = 35.0
"""Its prior 1 σ."""
RAISED_CHANCE = 0.03
"""Prior probability that a base is raised where its photo shows no raised ground."""
MIN_RAISED_MM = 2.0
"""Least height of a raised base; a lower one is a base on the board whose fits went astray."""
STANDING_CHANCE = 0.9
"""The same where its photo shows raised ground under it."""
SWEPT_CHANCE = 0.97
"""The same where the other photos show the base's surroundings alike at one height alone."""
HEIGHT_SIGMA_FACTOR = 1.5
"""Factor on a photo's own 1 σ of raised ground, for the association."""
SAME_SIZE_RATIO = 0.15
"""Largest logarithm of the ratio of two sizes that may be one misread size: 25 and 28.5 mm have 0.13."""
SAME_OVAL_RATIO = 0.23
"""The same of ovals, of which fewer sizes are made: 35 x 60 and 42 x 75 have 0.20."""
OTHER_SIZE_FACTOR = 0.15
"""Likelihood of two such sizes for one base, against that of one size."""
WRONG_SIZE_FACTOR = 1e-3
"""The same for sizes farther apart."""


@dataclass(frozen=True, slots=True, eq=False)
class Mode:
    """One Gaussian of a hypothesis."""

    mean: Array
    """(3,): x, y and z in mm."""
    covariance: Array
    """(3, 3)."""
    log_weight: float

    @classmethod
    def first(cls, sighting: Sighting, z_mm: float, sigma_mm: float, chance: float) -> "Mode":
        """The mode of one sighting at a prior height."""
        place = sighting.place_at(z_mm)
        relief = sighting.relief_at(z_mm, place)
        covariance = np.zeros((3, 3))
        loose = sighting.loose_covariance_at(z_mm, place)
        covariance[:2, :2] = loose + sigma_mm**2 * np.outer(relief, relief)
        covariance[:2, 2] = covariance[2, :2] = sigma_mm**2 * relief
        covariance[2, 2] = sigma_mm**2
        return cls(np.array([*place, z_mm]), covariance, float(np.log(chance)))

    def seen_by(self, sighting: Sighting) -> "Mode":
        """The mode with one more sighting; its weight has that sighting's density in mm⁻²."""
        z_mm = float(self.mean[2])
        place = sighting.place_at(z_mm)
        by_place = np.eye(2, 3)
        by_place[:, 2] = -sighting.relief_at(z_mm, place)
        innovation = place - self.mean[:2]
        loose = sighting.loose_covariance_at(z_mm, place)
        spread = by_place @ self.covariance @ by_place.T + loose
        inverse = np.linalg.inv(spread)
        gain = self.covariance @ by_place.T @ inverse
        chi2 = float(innovation @ inverse @ innovation)
        density = -0.5 * (chi2 + float(np.log(np.linalg.det(spread)))) - np.log(2 * np.pi)
        covariance = self.covariance - gain @ by_place @ self.covariance
        return Mode(
            self.mean + gain @ innovation,
            (covariance + covariance.T) / 2,
            self.log_weight + density,
        )

    def at_height(self, z_mm: float, sigma_mm: float) -> "Mode":
        """The mode after a measurement of its height; its weight has the density in mm⁻¹."""
        spread = float(self.covariance[2, 2]) + sigma_mm**2
        gain = self.covariance[:, 2] / spread
        innovation = z_mm - float(self.mean[2])
        density = -0.5 * (innovation**2 / spread + np.log(2 * np.pi * spread))
        covariance = self.covariance - np.outer(gain, self.covariance[2])
        return Mode(self.mean + gain * innovation, covariance, self.log_weight + float(density))


@dataclass(frozen=True, slots=True, eq=False)
class Hypothesis:
    """A base and the sightings of it, one a photo at most."""

    sightings: tuple[Sighting, ...]
    modes: tuple[Mode, ...]
    is_swept: bool = False
    """Whether photos that do not find it tell its height."""

    @classmethod
    def of(cls, sighting: Sighting) -> "Hypothesis":
        """A base that one photo sees."""
        raised = raised_chance(sighting)
        detection = sighting.detection
        z, sigma = RAISED_MEAN_MM, RAISED_SIGMA_MM
        if stands_raised(sighting):
            z, sigma = detection.z_mm, HEIGHT_SIGMA_FACTOR * max(detection.sigma_z_mm, 1.0)
        modes = (
            Mode.first(sighting, 0.0, BOARD_SIGMA_MM, 1 - raised),
            Mode.first(sighting, z, sigma, raised),
        )
        return cls((sighting,), modes)

    def swept_to(self, z_mm: float, sigma_mm: float) -> "Hypothesis":
        """The same base, which one photo sees, at the height that the other photos tell."""
        (sighting,) = self.sightings
        modes = (
            Mode.first(sighting, 0.0, BOARD_SIGMA_MM, 1 - SWEPT_CHANCE),
            Mode.first(sighting, z_mm, sigma_mm, SWEPT_CHANCE),
        )
        return Hypothesis(self.sightings, modes, is_swept=True)

    @property
    def has_parallax(self) -> bool:
        """Whether several photos measure its height."""
        return self.is_swept or len(self.sightings) > 1

    @property
    def best(self) -> Mode:
        """The likelier mode; a raised one too low to be raised does not count."""
        board, raised = self.modes
        is_high = raised.mean[2] > MIN_RAISED_MM
        return raised if is_high and raised.log_weight > board.log_weight else board

    @property
    def is_raised(self) -> bool:
        return self.best is self.modes[1]

    @property
    def base(self) -> Base:
        """The base by its surest sighting."""
        surest = max(self.sightings, key=lambda one: (one.detection.score, one.detection.visible))
        return surest.detection.base

    @property
    def log_evidence(self) -> float:
        """The log-likelihood of all sightings, by both modes."""
        weights = [mode.log_weight for mode in self.modes]
        return float(np.logaddexp.reduce(weights))

    def is_seen_by(self, photo: SeenPhoto) -> bool:
        return any(one.photo is photo for one in self.sightings)

    def is_seen_by_only(self, photo: SeenPhoto) -> bool:
        return len(self.sightings) == 1 and self.is_seen_by(photo)

    def joined_by(self, sighting: Sighting) -> "Hypothesis":
        """The hypothesis with one more sighting."""
        board, raised = (mode.seen_by(sighting) for mode in self.modes)
        chance = raised_chance(sighting)
        if stands_raised(sighting):
            detection = sighting.detection
            sigma = HEIGHT_SIGMA_FACTOR * max(detection.sigma_z_mm, 1.0)
            weight = raised.log_weight
            raised = replace(raised.at_height(detection.z_mm, sigma), log_weight=weight)
            board = replace(board, log_weight=board.log_weight + float(np.log(1 - chance)))
        return Hypothesis((*self.sightings, sighting), (board, raised))

    def log_ratio(self, sighting: Sighting, density_per_mm2: float) -> float:
        """Log-likelihood that a sighting is of this base, against another base at random."""
        joined = self.joined_by(sighting)
        sizes = size_log_ratio(self.base, sighting.detection.base)
        return joined.log_evidence - self.log_evidence - float(np.log(density_per_mm2)) + sizes


def raised_chance(sighting: Sighting) -> float:
    """The prior probability that the base of a sighting is raised."""
    return STANDING_CHANCE if stands_raised(sighting) else RAISED_CHANCE


def stands_raised(sighting: Sighting) -> bool:
    """Whether its photo shows raised ground under it."""
    return sighting.detection.standing_on is not None


def size_log_ratio(one: Base, other: Base) -> float:
    """Log-likelihood of two measured sizes for one base, against the same size twice."""
    if one == other:
        return 0.0
    ratio = abs(float(np.log(one.length_mm * one.width_mm / other.length_mm / other.width_mm))) / 2
    most = SAME_OVAL_RATIO if one.shape == "oval" else SAME_SIZE_RATIO
    is_near = one.shape == other.shape and ratio < most
    return float(np.log(OTHER_SIZE_FACTOR if is_near else WRONG_SIZE_FACTOR))


def largest_sigma_mm(covariance: Array) -> float:
    """1 σ along the major axis of a covariance (2, 2)."""
    return float(np.sqrt(np.linalg.eigvalsh(covariance)[-1]))
