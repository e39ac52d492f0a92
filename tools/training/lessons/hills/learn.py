"""Teaching the network: pieces of drawn tables, mirrored, turned, cut off and with their colours swapped."""

import argparse
import copy
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

import cv2
import numpy as np
import torch
from torch import Tensor, nn

from overruler.vision.learned.hill_net import picture_input
from overruler.vision.learned.inference import OUTPUT_STRIDE_PX
from synthetic.from_above.hills.scene import COARSE, Sample
from synthetic.arrays import Floats, Picture, Rng
from training.lessons.hills.network import HillNet
from training.loop import begin, device_of

WORTH = (1.0, 3.0, 5.0)
"""How much a cell of the rest, of a top and of a side counts: without it the rare ones are learned late. The network's
answers are put right by it at the end."""


def read(path: Path) -> list[Sample]:
    """The drawn tables of a file."""
    with np.load(path) as file:
        rows = zip(*(file[field.name] for field in fields(Sample)), strict=True)
        return [Sample(*row) for row in rows]


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


def batch(samples: Sequence[Sample], rng: Rng, count: int) -> tuple[Floats, Floats]:
    blobs, truths = zip(
        *(lesson(samples[int(k)], rng) for k in rng.integers(0, len(samples), count)), strict=True
    )
    return np.stack(blobs), np.stack(truths)


def loss(answer: Tensor, there: Tensor) -> Tensor:
    """Cross entropy of what is there."""
    counted = there * torch.tensor(WORTH, device=there.device).reshape(1, -1, 1, 1)
    return -(counted * nn.functional.log_softmax(answer, 1)).sum() / there.sum()


def begun(options: argparse.Namespace, pictures: Floats) -> nn.Module:
    """The network to teach; out of an ONNX file as it was before it was put right, with some pictures (N, 5, H, W)."""
    net = begin(HillNet, options, pictures=torch.from_numpy(pictures))
    if options.start is not None and options.start.suffix == ".onnx":
        _favour(net, 1.0)
    return net


def put_right(net: nn.Module) -> nn.Module:
    """A copy whose answers are true shares: without what the kinds of cells were worth in the lessons."""
    right = copy.deepcopy(net).eval()
    _favour(right, -1.0)
    return right


def _favour(net: nn.Module, sign: float) -> None:
    """Let the answers have, or have no more, what the kinds of cells are worth."""
    with torch.no_grad():
        net.last.bias += sign * torch.tensor(WORTH, device=net.last.bias.device).log()


def figures(net: nn.Module, checks: Sequence[Sample]) -> str:
    """The mean loss, and how well tops overlap the truth (intersection over union)."""
    net = put_right(net)
    both, either, losses = 0.0, 0.0, list[float]()
    with torch.inference_mode():
        for one in checks:
            blob, truth = (
                torch.from_numpy(part)[None].to(device_of(net)) for part in lesson(one, None)
            )
            answer = net(blob)
            losses.append(float(loss(answer, truth)))
            said, true = answer.softmax(1)[:, 1] > 0.5, truth[:, 1] > 0.5
            both, either = both + float((said & true).sum()), either + float((said | true).sum())
    return f"loss {np.mean(losses):.4f}  tops {both / max(either, 1):.4f}"
