"""The lesson of the network that tells bases from lookalikes on tables in play."""

from collections.abc import Sequence

import numpy as np

from overruler.vision.learned.in_play_net import WIDE_PATCH
from overruler.vision.learned.patches import patch_input
from synthetic.arrays import Floats, Picture, Rng
from synthetic.painted.wardrobe import Wardrobe
from training.blocks import Arrays
from training.lesson import Drawn, FromTables, Lesson
from training.lessons.in_play.looks import looks
from training.lessons.in_play.network import InPlayNet
from training.lessons.rims.lessons import patch_loss
from training.loop import Interface

SWAPPED = 0.2
"""The share of looks whose colour channels are exchanged."""
TABLES = 100
"""Tables that one process keeps at a time."""


def batch(rng: Rng, tables: Sequence[Arrays], count: int) -> tuple[Floats, Floats]:
    """So many looks of any tables, half of them mirrored."""
    which = rng.integers(0, len(tables), count)
    rows = [(tables[k], int(rng.integers(len(tables[k]["truth"])))) for k in which]
    cutouts, side, truth = (
        np.stack([table[name][row] for table, row in rows]) for name in ("patches", "side", "truth")
    )
    for k in np.flatnonzero(rng.random(count) < SWAPPED):
        cutouts[k] = cutouts[k][..., rng.permutation(3)]
    seen = patch_input(cutouts, side, WIDE_PATCH)
    flip = rng.random(count) < 0.5
    seen[flip] = seen[flip][..., ::-1]
    truth[flip, 1] *= -1
    return seen, truth


def _table(
    seed: Sequence[int], tiles: Sequence[Picture], wardrobe: Wardrobe | None = None
) -> Arrays:
    """A table that shows something."""
    for again in range(100):
        found = looks([*seed, again], tiles, wardrobe)
        if len(found["truth"]):
            return found
    raise ValueError("no table shows anything")


FEED = FromTables(batch, patch_loss, (Drawn(_table, TABLES, 1.0),))
LESSONS = {
    "in_play": Lesson(
        InPlayNet,
        patch_loss,
        FEED,
        Interface((1, *InPlayNet.shape), ("cutouts", "answers"), {0: "n"}),
        batch=256,
        rate=1.5e-3,
        say_every=200,
        needed=(),
    )
}
