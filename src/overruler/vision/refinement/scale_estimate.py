"""What the witnesses of the scale say together: hypotheses of who is wrong, and the doubt over all."""

from dataclasses import dataclass

import numpy as np

from overruler.geometry.plane_doubt import STRAIN_SIZE
from overruler.geometry.pose import Array

MIN_COVERED_WEIGHT = 0.02
"""The doubt covers every hypothesis of at least this probability."""
COVERED_SIGMAS = 1.5
"""The doubt is widened until each covered hypothesis lies within this many σ."""
CONTRADICTION_WEIGHT = 0.2
"""If that no witness is grossly wrong is less likely than this, they contradict each other."""


@dataclass(frozen=True, slots=True, eq=False)
class Witness:
    """One or more linear measurements of the strains, which are usual or gross together."""

    name: str
    """`print`, `places`, `bases`, or the ruler's kind."""
    design: Array
    """(K, 9): the measured values by the three strains."""
    values: Array
    """(K,): the measured values."""
    usual: Array
    """(K, K): their covariance if the witness is as it should be."""
    gross: Array
    """(K, K): if it is grossly wrong."""
    gross_probability: float
    """How likely that is beforehand."""


@dataclass(frozen=True, slots=True, eq=False)
class Hypothesis:
    """Which witnesses are grossly wrong, and what follows."""

    gross: tuple[str, ...]
    """Names of the witnesses that are."""
    weight: float
    """Its probability."""
    mean: Array
    """(9,): the strains of the table, of the print, and what they share."""
    covariance: Array
    """(9, 9): their covariance."""

    @property
    def second_moment(self) -> Array:
        """(3, 3): second moment about 0 of the table's strain."""
        mean, own = self.mean[:STRAIN_SIZE], self.covariance[:STRAIN_SIZE, :STRAIN_SIZE]
        return np.asarray(own + np.outer(mean, mean))


@dataclass(frozen=True, slots=True, eq=False)
class ScaleEstimate:
    """What all witnesses together say of the strain of the table."""

    hypotheses: tuple[Hypothesis, ...]
    """The most likely first."""
    witnesses: tuple[Witness, ...]
    """Who was heard."""

    @property
    def second_moment(self) -> Array:
        """(3, 3): second moment about 0 of the table's strain, which covers every likely hypothesis."""
        moment = np.zeros((STRAIN_SIZE, STRAIN_SIZE))
        for one in self.hypotheses:
            moment += one.weight * one.second_moment
        for one in self.hypotheses:
            if one.weight >= MIN_COVERED_WEIGHT:
                moment = _covering(moment, one.second_moment / COVERED_SIGMAS**2)
        return moment

    @property
    def agreement(self) -> float:
        """The probability that no witness is grossly wrong."""
        return sum(one.weight for one in self.hypotheses if not one.gross)

    @property
    def is_contradictory(self) -> bool:
        """Whether some witness must be grossly wrong."""
        return self.agreement < CONTRADICTION_WEIGHT


def _covering(moment: Array, least: Array) -> Array:
    """`moment` (3, 3), widened where `least` (3, 3) is larger."""
    missing, axes = np.linalg.eigh(least - moment)
    return np.asarray(moment + (axes * np.maximum(missing, 0)) @ axes.T)
