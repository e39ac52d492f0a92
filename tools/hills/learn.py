"""Teaching the network: pieces of drawn tables, mirrored, turned, cut off and with their colours swapped."""

import copy
from collections.abc import Iterator, Sequence
from pathlib import Path

import cv2
import numpy as np
import torch
from torch import Tensor, nn

from hills.scene import COARSE, Halves, Sample
from overruler.vision.hillmap import USUAL_MM, picture_input
from overruler.vision.networks import CELL_PX
from rims.mats import Floats, Picture, Rng

WORTH = (1.0, 3.0, 5.0)
"""How much a cell of the rest, of a top and of a side counts: without it the rare ones are learned late. The network's
answers are put right by it at the end."""
HEIGHT_WORTH = 0.3
"""What a nat about heights is worth, against one about what a cell is."""
SURE = (-3.0, 1.0)
"""The least and the largest logarithm of σ that a height is taken to have."""
Batch = tuple[Tensor, Tensor, Tensor]
"""Pictures (N, 5, S, S), shares of what is there (N, 3, S / 4, S / 4), heights in mm (N, S / 4, S / 4) or 0."""


class Tables:
    """The drawn tables of a folder; those still being drawn come in as they are ready."""

    def __init__(self, folder: Path, names: str) -> None:
        self.folder, self.names, self.known = folder, names, set[Path]()
        self.samples: list[Sample] = []
        self.refresh()

    def refresh(self) -> None:
        for path in sorted(set(self.folder.glob(self.names)) - self.known):
            self.known.add(path)
            with np.load(path) as file:
                rows = zip(*(file[name] for name in ("pixels", "lean", "shares", "above_mm")), strict=True)
                self.samples += [Sample(*row) for row in rows]


def lesson(one: Sample, rng: Rng | None) -> tuple[Floats, Floats, Floats]:
    """A sample as the network takes it, and what is there; changed at random where `rng` is given."""
    pixels, shares, above, lean = one.pixels, one.shares, one.above_mm, _lean_field(one)
    seen = _seen(len(pixels), rng)
    if rng is not None:
        pixels, shares, above, lean = _turned(pixels, shares, above, lean, rng)
    blob = picture_input(pixels, seen, lean)
    if rng is not None:
        blob = blob[..., [*rng.permutation(3), 3, 4]]
        blob[..., :3] *= rng.normal(1, 0.15, 3).astype(np.float32)
    raised, heights = _cells(shares, above)
    truth = np.concatenate([1 - raised.sum(0, keepdims=True), raised]) * seen[::CELL_PX, ::CELL_PX]
    return blob, np.asarray(truth, np.float32), np.asarray(heights * (truth[1] > 0.97), np.float32)


def _cells(shares: Picture, above: Halves) -> tuple[Floats, Floats]:
    """Shares (2, C, C) and heights of tops, by the network's cells."""
    count = shares.shape[0] * COARSE // CELL_PX
    some = cv2.resize(np.ascontiguousarray(shares), (count, count), interpolation=cv2.INTER_AREA)
    highest = above[::2, ::2].astype(np.float32)
    return some.transpose(2, 0, 1) / np.float32(255), highest


def _lean_field(one: Sample) -> Floats:
    """(S, S, 2), as `overruler.vision.orthophoto.lean_at` has it."""
    count = len(one.pixels)
    step = (np.arange(count, dtype=np.float32) - np.float32((count - 1) / 2)) * one.lean[2]
    return np.stack(np.meshgrid(step + one.lean[0], step + one.lean[1]), -1)


def _turned(
    pixels: Picture, shares: Picture, above: Halves, lean: Floats, rng: Rng
) -> tuple[Picture, Picture, Halves, Floats]:
    """One of the eight ways to lay a square."""
    if rng.random() < 0.5:
        pixels, shares, above = pixels.swapaxes(0, 1), shares.swapaxes(0, 1), above.T
        lean = lean[..., ::-1].swapaxes(0, 1)
    for axis in (0, 1):
        if rng.random() < 0.5:
            pixels, shares, above = np.flip(pixels, axis), np.flip(shares, axis), np.flip(above, axis)
            lean = np.flip(lean, axis) * np.array([-1, 1] if axis else [1, -1], np.float32)
    return pixels, shares, above, lean


def _seen(count: int, rng: Rng | None) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """All, or what lies on one side of a line: photos end somewhere."""
    if rng is None or rng.random() < 0.8:
        return np.ones((count, count), np.bool_)
    step, turn = np.linspace(-0.5, 0.5, count, dtype=np.float32), rng.uniform(0, 6.3)
    return np.asarray(step * np.float32(np.cos(turn)) + step[:, None] * np.float32(np.sin(turn)) < rng.uniform(0, 0.5))


def batch(samples: Sequence[Sample], rng: Rng, count: int) -> Batch:
    made = [lesson(samples[int(k)], rng) for k in rng.integers(0, len(samples), count)]
    blob, truth, above = (torch.from_numpy(np.stack(part)) for part in zip(*made, strict=True))
    return blob.permute(0, 3, 1, 2), truth, above


def loss_of(answer: Tensor, truth: Tensor, above_mm: Tensor) -> Tensor:
    """Cross entropy of what is there, and the negative log likelihood of the heights of tops."""
    counted = truth * torch.tensor(WORTH).reshape(1, -1, 1, 1)
    kinds = -(counted * nn.functional.log_softmax(answer[:, :3], 1)).sum() / truth.sum()
    top = above_mm > 0
    if not bool(top.any()):
        return kinds
    off = answer[:, 3][top] - (above_mm[top] / USUAL_MM).log()
    log_sigma = answer[:, 4][top].clamp(*SURE)
    return kinds + HEIGHT_WORTH * (0.5 * (off / log_sigma.exp()) ** 2 + log_sigma).mean()


def follow(mean: nn.Module, net: nn.Module, keep: float) -> None:
    """The running mean of the weights."""
    for old, new in zip(mean.state_dict().values(), net.state_dict().values(), strict=True):
        if old.dtype.is_floating_point:
            old.detach().mul_(keep).add_(new.detach(), alpha=1 - keep)
        else:
            old.copy_(new)


def put_right(net: nn.Module) -> nn.Module:
    """A copy whose answers are true shares: without what the kinds of cells were worth in the lessons."""
    right = copy.deepcopy(net).eval()
    with torch.no_grad():
        right.last.bias[:3] -= torch.tensor(WORTH).log()
    return right


def figures(net: nn.Module, checks: Sequence[Sample]) -> dict[str, float]:
    """The mean loss, how well tops overlap the truth (intersection over union), how far heights are off."""
    net = put_right(net)
    both, either, losses, off = 0.0, 0.0, list[float](), list[Floats]()
    with torch.inference_mode():
        for blob, truth, above in _one_by_one(checks):
            answer = net(blob)
            losses.append(float(loss_of(answer, truth, above)))
            said, true = answer[:, :3].softmax(1)[:, 1] > 0.5, truth[:, 1] > 0.5
            both, either = both + float((said & true).sum()), either + float((said | true).sum())
            off.append((answer[:, 3] - (above / USUAL_MM).log())[above > 0].abs().numpy())
    return {
        "loss": float(np.mean(losses)),
        "tops": both / max(either, 1),
        "height": float(np.median(np.concatenate(off))),
    }


def _one_by_one(checks: Sequence[Sample]) -> Iterator[Batch]:
    for one in checks:
        blob, truth, above = (torch.from_numpy(part)[None] for part in lesson(one, None))
        yield blob.permute(0, 3, 1, 2), truth, above
