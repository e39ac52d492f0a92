"""The lesson of the finder of hills: pieces of tables, mirrored, turned, cut off and with their colours swapped."""

import copy
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path

import cv2
import numpy as np
import torch
from torch import Tensor, nn

from overruler.vision.imaging.orthophoto import Orthophoto
from overruler.vision.learned.hill_net import picture_input
from overruler.vision.learned.inference import OUTPUT_STRIDE_PX
from synthetic.arrays import Floats, Picture, Rng
from synthetic.from_above.hills import COARSE, FINE_MM, Sample, drawn_hills, label, piece, square
from synthetic.from_above.sheet import Truth, read_truth, traced_view
from synthetic.painted.wardrobe import Wardrobe
from synthetic.tiles import library
from training.blocks import Arrays, Drawing
from training.lesson import FromBlocks, Lesson
from training.lessons.hills.network import HillNet
from training.loop import Interface, device_of

SIZE_PX, BLOCK, TILES = 256, 200, 150
"""Pixels of a sample's side, samples in a block, and mats that they lie on."""
PIECES, NEAR_HILLS = 8, 0.6
"""Pieces taken of one traced table, and the share of them near a hill or roof, if there is one."""
STOOD_ON = frozenset(("hill", "roof"))
"""The terrain that traced bases stand on."""
WORTH = (1.0, 3.0, 5.0)
"""How much a cell of the rest, of a top and of a side counts: without it the rare ones are learned late. The network's
answers are put right by it at the end."""


def drawn_block(seed: int, number: int, wardrobe: Wardrobe | None = None) -> Arrays:
    tiles, seeds = library(seed, TILES), [[seed, number, k] for k in range(BLOCK)]
    return _stacked([drawn_hills(one, tiles, SIZE_PX, wardrobe) for one in seeds])


def _stacked(some: Sequence[Sample]) -> Arrays:
    if not some:
        return {}
    return {one.name: np.stack([getattr(s, one.name) for s in some]) for one in fields(Sample)}


def traced_pieces(path: Path) -> Arrays:
    """Pieces of a traced table: real shadows, and all that stands on a table."""
    truth, camera, photo = read_truth(path)
    view = traced_view(photo, camera, truth, FINE_MM)
    labels = label(view, camera, truth["terrain"])
    corners = _corners(np.random.default_rng(truth["seed"]), view, truth["terrain"])
    shown = [at for at in corners if view.seen[square(at, SIZE_PX)].all()]
    return _stacked([piece(view, camera, labels, at, SIZE_PX) for at in shown])


def _corners(rng: Rng, view: Orthophoto, terrain: Sequence[Truth]) -> Iterator[tuple[int, int]]:
    """Upper left corners (row, column) of the pieces to take."""
    most = np.array(view.seen.shape) - SIZE_PX
    hills = [np.mean(one["footprint_mm"], 0) for one in terrain if one["kind"] in STOOD_ON]
    for _ in range(PIECES if (most >= 0).all() else 0):
        corner = rng.uniform(0, most + 1)
        if hills and rng.random() < NEAR_HILLS:
            middle = view.to_px(hills[int(rng.integers(len(hills)))])[::-1]
            corner = np.clip(middle - SIZE_PX / 2 + rng.uniform(-0.3, 0.3, 2) * SIZE_PX, 0, most)
        yield int(corner[0]) // COARSE * COARSE, int(corner[1]) // COARSE * COARSE


def sample(some: Arrays, k: int) -> Sample:
    return Sample(*(some[one.name][k] for one in fields(Sample)))


def lesson(one: Sample, rng: Rng | None) -> tuple[Floats, Floats]:
    """A sample as the network takes it (5, S, S), and what is there; changed at random where `rng` is given.

    What is there (3, S / 4, S / 4): the shares of rest, tops and sides in each cell.
    """
    pixels, shares, lean = one.pixels, one.shares, _lean_field(one)
    seen = _seen(len(pixels), rng)
    if rng is not None:
        pixels, shares, lean = _turned(pixels, shares, lean, rng)
    blob = picture_input(pixels, seen, lean)
    if rng is not None:
        blob = blob[..., [*rng.permutation(3), 3, 4]]
        blob[..., :3] *= rng.normal(1, 0.15, 3).astype(np.float32)
    raised = _cells(shares)
    there = (
        np.concatenate([1 - raised.sum(0, keepdims=True), raised])
        * seen[::OUTPUT_STRIDE_PX, ::OUTPUT_STRIDE_PX]
    )
    return np.ascontiguousarray(blob.transpose(2, 0, 1)), np.asarray(there, np.float32)


def _cells(shares: Picture) -> Floats:
    """Shares (2, C, C) of tops and sides, by the network's cells."""
    count = shares.shape[0] * COARSE // OUTPUT_STRIDE_PX
    some = cv2.resize(np.ascontiguousarray(shares), (count, count), interpolation=cv2.INTER_AREA)
    return some.transpose(2, 0, 1) / np.float32(255)


def _lean_field(one: Sample) -> Floats:
    """(S, S, 2), as `overruler.vision.imaging.orthophoto.relief_displacement_map` has it."""
    count = len(one.pixels)
    step = (np.arange(count, dtype=np.float32) - np.float32((count - 1) / 2)) * one.lean[2]
    return np.stack(np.meshgrid(step + one.lean[0], step + one.lean[1]), -1)


def _turned(
    pixels: Picture, shares: Picture, lean: Floats, rng: Rng
) -> tuple[Picture, Picture, Floats]:
    """One of the eight ways to lay a square."""
    if rng.random() < 0.5:
        pixels, shares = pixels.swapaxes(0, 1), shares.swapaxes(0, 1)
        lean = lean[..., ::-1].swapaxes(0, 1)
    for axis in (0, 1):
        if rng.random() < 0.5:
            pixels, shares = np.flip(pixels, axis), np.flip(shares, axis)
            lean = np.flip(lean, axis) * np.array([-1, 1] if axis else [1, -1], np.float32)
    return pixels, shares, lean


def _seen(count: int, rng: Rng | None) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """All, or what lies on one side of a line: photos end somewhere."""
    if rng is None or rng.random() < 0.8:
        return np.ones((count, count), np.bool_)
    step, turn = np.linspace(-0.5, 0.5, count, dtype=np.float32), rng.uniform(0, 6.3)
    return np.asarray(
        step * np.float32(np.cos(turn)) + step[:, None] * np.float32(np.sin(turn))
        < rng.uniform(0, 0.5)
    )


def batch(some: Arrays, rng: Rng, count: int) -> tuple[Floats, Floats]:
    chosen = rng.integers(0, len(some["pixels"]), count)
    blobs, truths = zip(*(lesson(sample(some, int(k)), rng) for k in chosen), strict=True)
    return np.stack(blobs), np.stack(truths)


def pictures(some: Arrays) -> Floats:
    return np.stack([lesson(sample(some, k), None)[0] for k in range(0, len(some["pixels"]), 4)])


def loss(answer: Tensor, there: Tensor) -> Tensor:
    """Cross entropy of what is there."""
    counted = there * torch.tensor(WORTH, device=there.device).reshape(1, -1, 1, 1)
    return -(counted * nn.functional.log_softmax(answer, 1)).sum() / there.sum()


def weighed(net: nn.Module) -> None:
    """Make a network as it was before it was put right."""
    _favour(net, 1.0)


def put_right(net: nn.Module) -> nn.Module:
    """A copy whose answers are true shares: without what the kinds of cells were worth in the lessons."""
    right = copy.deepcopy(net).eval()
    _favour(right, -1.0)
    return right


def _favour(net: nn.Module, sign: float) -> None:
    """Let the answers have, or have no more, what the kinds of cells are worth."""
    with torch.no_grad():
        net.last.bias += sign * torch.tensor(WORTH, device=net.last.bias.device).log()


def figures(net: nn.Module, some: Arrays) -> str:
    """The mean loss, and how well tops overlap the truth (intersection over union)."""
    net = put_right(net)
    both, either, losses = 0.0, 0.0, list[float]()
    with torch.inference_mode():
        for k in range(len(some["pixels"])):
            pair = lesson(sample(some, k), None)
            blob, truth = (torch.from_numpy(part)[None].to(device_of(net)) for part in pair)
            answer = net(blob)
            losses.append(float(loss(answer, truth)))
            said, true = answer.softmax(1)[:, 1] > 0.5, truth[:, 1] > 0.5
            both, either = both + float((said & true).sum()), either + float((said | true).sum())
    return f"loss {np.mean(losses):.4f}  tops {both / max(either, 1):.4f}"


FEED = FromBlocks(batch, figures, pictures, traced=0.4)
LESSONS = {
    "hills": Lesson(
        HillNet, loss, FEED, Interface(), batch=8, rate=4e-3, say_every=200, needed=("samples",),
        drawing=Drawing(drawn_block, traced_pieces), revived=weighed, finished=put_right,
    )
}  # fmt: skip
