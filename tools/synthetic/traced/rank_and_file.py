"""Regiments: bases side by side and behind one another, as on trays."""

from collections.abc import Iterator

import numpy as np

from synthetic.arrays import Rng
from synthetic.things.mesh import about_z
from synthetic.traced.troops import Kind

GAPS_MM = (0.05, 0.05, 0.4, 2.0)
"""Gaps between neighbours, one of them for each regiment, in mm."""
SLIP_SHARE = 0.3
"""1 σ of a base's slip, as a share of that gap: bases stay clear of each other."""
LOOSE_GAP_MM = 1.0
"""From this gap on bases also turn a little, in mm."""
TURN_SIGMA_DEG = 0.8
"""1 σ of that turn."""


def ranks_and_files(
    kind: Kind, leader: tuple[float, float, float, float], rng: Rng
) -> Iterator[tuple[float, float, float, float]]:
    """Yield the places (x, y, z, heading) of a regiment, its leader first; the last rank may be short."""
    x, y, z, heading = leader
    files, ranks = int(rng.integers(kind.low, kind.high + 1)), int(rng.integers(1, kind.ranks + 1))
    gap = float(rng.choice(GAPS_MM))
    last = files if ranks == 1 else int(rng.integers(1, files + 1))
    axes = about_z(heading)[:2, :2].T
    pitch = np.array([kind.shape.length_mm, kind.shape.width_mm]) + gap
    for rank in range(ranks):
        for file in range(last if rank == ranks - 1 else files):
            if rank == file == 0:
                yield leader
                continue
            slip = rng.normal(0, SLIP_SHARE * gap, 2).clip(-gap / 2.1, gap / 2.1)
            at = (x, y) + (np.array([-rank, file]) * pitch + slip) @ axes
            turn = float(rng.normal(0, TURN_SIGMA_DEG)) if gap > LOOSE_GAP_MM else 0.0
            yield float(at[0]), float(at[1]), z, heading + turn
