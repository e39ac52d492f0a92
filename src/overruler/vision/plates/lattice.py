"""The lattice of a unit in rank and file: what its members say together of each one's place.

Bases in contact stand on a lattice: x = origin + file * p + rank * q. The measured places of all
members fit the six parameters; how far they scatter beyond their own errors tells how loosely they
stand. The place of each is then the weighted mean of its own measurement and of the lattice
(empirical Bayes).
"""

from dataclasses import dataclass

import numpy as np

from overruler.geometry.pose import Array
from overruler.vision.plates.neighbours import Places, Relations

MIN_MEMBERS = 4
"""Members of a lattice, at least: three fit its six parameters with nothing left to tell the scatter."""
MIN_SCATTER_MM = 0.1
"""Smallest 1 σ of places about their lattice along an axis, in mm."""
SCATTER_ROUNDS = 3
"""How often the scatter is estimated anew."""
SHARED = 0.3
"""Share of a place's variance that all members have in common: the mean over them does not lessen it.

With it 97 % of 126 places on rendered tables lie within the stated 95 %, without it 90 %."""
TURN_SIGMA_RAD = np.radians(0.8)
"""1 σ of a base's measured heading in rank and file."""
STEPS = np.array([[1, 0], [0, 1], [-1, 0], [0, -1]])
"""File and rank of the neighbours at the four sides."""


@dataclass(frozen=True, slots=True, eq=False)
class Unit:
    """Bases of one size in contact."""

    members: list[int]
    """Their indices."""
    cells: Array
    """(M, 2): their files and ranks."""


def settle_places(places: Places, covariances: Array) -> tuple[Array, Array]:
    """Return centres (N, 2) and covariances (N, 2, 2) by the lattices that they form."""
    xy, settled = places.xy_mm.copy(), covariances.copy()
    for unit in find_units(places):
        if len(unit.members) < MIN_MEMBERS:
            continue
        expected, doubt_mm2 = _fit_lattice(xy[unit.members], settled[unit.members], unit.cells)
        for k, at, variance_mm2 in zip(unit.members, expected, doubt_mm2, strict=True):
            prior, own = np.eye(2) / variance_mm2, np.linalg.inv(covariances[k])
            together = np.linalg.inv(prior + own)
            xy[k] = together @ (prior @ at + own @ xy[k])
            settled[k] = (1 - SHARED) * together + SHARED * covariances[k]
    return xy, settled


def settle_turns(places: Places) -> Array:
    """Return headings (N,) in rad: those of a unit differ no more than its members are turned."""
    turns = places.turn_rad.copy()
    for unit in find_units(places):
        if len(unit.members) < MIN_MEMBERS:
            continue
        own = turns[unit.members]
        away = (own - own[0] + np.pi / 4) % (np.pi / 2) - np.pi / 4
        off = away - away.mean()
        scatter = max(float(off @ off) / (len(off) - 1) - TURN_SIGMA_RAD**2, 0.0)
        turns[unit.members] = own - off * TURN_SIGMA_RAD**2 / (scatter + TURN_SIGMA_RAD**2)
    return turns


def find_units(places: Places) -> list[Unit]:
    """Return the groups in contact."""
    touching = Relations.of(places).touching
    left, units = set(range(len(places))), []
    while left:
        first = min(left)
        cells, queue = {first: np.zeros(2)}, [first]
        for k in queue:  # it grows meanwhile
            quarters = round((places.turn_rad[k] - places.turn_rad[first]) / (np.pi / 2))
            for side, other in np.argwhere(touching[:, k]).tolist():
                if other not in cells:
                    cells[other] = cells[k] + STEPS[(side + quarters) % 4]
                    queue.append(other)
        left -= set(cells)
        units.append(Unit(queue, np.array([cells[k] for k in queue])))
    return units


def _fit_lattice(xy_mm: Array, covariances: Array, cells: Array) -> tuple[Array, Array]:
    """Return where a lattice expects its members (M, 2), and the variances (M,) about that in mm²."""
    spread = cells[:, np.ptp(cells, axis=0) > 0]
    design = np.column_stack([np.ones(len(cells)), spread])
    own_mm2 = np.trace(covariances, axis1=1, axis2=2) / 2
    scatter_mm2 = MIN_SCATTER_MM**2
    for _ in range(SCATTER_ROUNDS):
        total_mm2 = own_mm2 + scatter_mm2
        weighted = design.T / total_mm2
        inverse = np.linalg.inv(weighted @ design)
        expected = design @ (inverse @ (weighted @ xy_mm))
        spare = 2 * (len(cells) - design.shape[1])
        chi2 = float((((xy_mm - expected) ** 2).sum(1) / total_mm2).sum() / spare)
        scatter_mm2 = max(float(np.median(total_mm2 * chi2 - own_mm2)), MIN_SCATTER_MM**2)
    fitted_mm2 = np.einsum("mi,ij,mj->m", design, inverse, design)
    return expected, fitted_mm2 + scatter_mm2
