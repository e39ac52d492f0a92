"""The lesson of the finder of rectangular bases in rank and file, alone and under small scales."""

from functools import partial
from pathlib import Path

import numpy as np
import torch
from torch import nn

from overruler.vision.learned.shape_net import picture_input
from overruler.vision.plates.regiment_net import MAGNIFICATION
from synthetic.arrays import Floats, Picture, Rng
from synthetic.from_above.regiments import regiment_sheet
from synthetic.from_above.sheet import Sheet, read_truth, sheet_of_photo
from synthetic.painted.wardrobe import Wardrobe
from synthetic.printed_mats import any_angular, print_on_mat
from synthetic.tiles import library
from training.blocks import Arrays, Drawing
from training.lesson import FromBlocks, Lesson
from training.lessons.shapes.angular import label, loss, sheet_row
from training.lessons.shapes.crops import SIDE, Cropping, recoloured, sent
from training.lessons.shapes.network import OverviewNet
from training.loop import Interface, device_of

SHEETS, CROPS, MATS = 16, 10, 12
"""Of a block: painted pieces of tables, crops of each, and mats."""
TRACED_CROPS = 120
"""Crops of a traced table."""
PRINTED, PRINTS = 0.5, 8
"""The share of traced tables with printed squares on their mats, and how many."""
TRACED_SHARE = 0.35
"""The share of samples that are of traced tables."""
CHECKED = 160
"""Crops that the check looks at."""
CROPPING = Cropping(
    scales=0.06,
    near=0.75,
    label=partial(label, magnified=MAGNIFICATION),
    favour=2.0,
    magnified=MAGNIFICATION,
)


def drawn_block(seed: int, number: int, wardrobe: Wardrobe | None = None) -> Arrays:
    """Crops of painted pieces of tables."""
    rng, tiles = np.random.default_rng([seed, number, 43]), library(5000 + number, MATS)
    sheets = [regiment_sheet([seed, number, k], tiles, wardrobe) for k in range(SHEETS)]
    return _crops(rng, [sheet for sheet in sheets for _ in range(CROPS)])


def traced_block(path: Path) -> Arrays:
    """Crops of a traced table, on half of them among printed squares."""
    truth, camera, photo = read_truth(path)
    rng = np.random.default_rng([truth["seed"], 12])
    if rng.random() < PRINTED:
        photo, _ = print_on_mat(rng, photo, camera, truth, PRINTS, any_angular(rng))
    sheet = sheet_of_photo(truth, camera, photo, sheet_row)
    return _crops(rng, [sheet] * TRACED_CROPS)


def _crops(rng: Rng, sheets: list[Sheet]) -> Arrays:
    pixels, leans, truths = zip(*(CROPPING.piece(rng, sheet) for sheet in sheets), strict=True)
    return {
        "pixels": np.stack(pixels),
        "leans": np.stack(leans).astype(np.float32),
        "truths": np.stack(truths).astype(np.float16),
    }


def batch(crops: Arrays, rng: Rng, count: int) -> tuple[Floats, Floats]:
    """So many crops in another light, and what is true of them."""
    chosen = rng.integers(0, len(crops["leans"]), count)
    shown = [sent(rng, recoloured(rng, crops["pixels"][k])) for k in chosen]
    inputs = [_input(pixels, crops["leans"][k]) for pixels, k in zip(shown, chosen, strict=True)]
    return np.stack(inputs), crops["truths"][chosen].astype(np.float32)


def _input(pixels: Picture, lean: Floats) -> Floats:
    return picture_input(pixels, np.broadcast_to(lean, (SIDE, SIDE, 2)).astype(np.float32))


def pictures(crops: Arrays) -> Floats:
    """Some crops as the network takes them."""
    some = zip(crops["pixels"][:CHECKED], crops["leans"][:CHECKED], strict=True)
    return np.stack([_input(pixels, lean) for pixels, lean in some])


def figures(net: nn.Module, crops: Arrays) -> str:
    """The mean loss on crops that nothing is learnt from."""
    truth = torch.from_numpy(crops["truths"][:CHECKED].astype(np.float32)).to(device_of(net))
    net.eval()
    with torch.inference_mode():
        answer = net(torch.from_numpy(pictures(crops)).to(device_of(net)))
        return f"{float(loss(answer, truth)):.4f}"


FEED = FromBlocks(batch, figures, pictures, traced=TRACED_SHARE)
LESSONS = {
    "regiments": Lesson(
        OverviewNet,
        loss,
        FEED,
        Interface(),
        batch=16,
        rate=2e-3,
        say_every=200,
        needed=("samples",),
        drawing=Drawing(drawn_block, traced_block),
    )
}
