"""Training: the steps, whatever is learned."""

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from rims.data import Data
from rims.mats import Picture
from rims.solids import Floats

BATCH, RATE = 128, 3e-3
Figures = dict[str, float]


@dataclass(frozen=True, slots=True)
class Task:
    """What one of the networks learns."""

    net: Callable[[], nn.Module]
    blob: Callable[[Picture, Floats], Floats]
    """Cutouts and side input as the network takes them."""
    mirror: Callable[[Floats], Floats]
    """The same, of the scene mirrored about the line away from the camera."""
    loss: Callable[[Tensor, Tensor], Tensor]
    """Of the network's answers and the truth (N, 5)."""
    measure: Callable[[NDArray[np.float64], NDArray[np.float64]], Figures]
    """How good answers are, given the truth."""


def train(task: Task, data: Data, epochs: int, seed: int, each: Callable[[int, float, nn.Module], None]) -> nn.Module:
    """The running mean of the weights after all epochs; `each` is told of every one."""
    rng = np.random.default_rng([seed, 5])
    net = task.net().to(memory_format=torch.channels_last)
    mean = copy.deepcopy(net)
    chooser = torch.optim.AdamW(net.parameters(), lr=RATE, weight_decay=1e-3)
    steps = epochs * (len(data) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(chooser, RATE, total_steps=steps, pct_start=0.1)
    for epoch in range(epochs):
        losses = [_step(task, net, mean, *batch, chooser, schedule) for batch in batches(task, data, rng)]
        each(epoch + 1, float(np.mean(losses)), mean)
    return mean


def batches(task: Task, data: Data, rng: np.random.Generator) -> Iterator[tuple[Tensor, Tensor]]:
    """One epoch, half of it mirrored, in half of it the colours swapped."""
    order = rng.permutation(len(data))
    for start in range(0, len(order) - BATCH + 1, BATCH):
        rows = np.sort(order[start : start + BATCH])
        blob, truth = task.blob(data.cutouts[rows], data.side[rows]), data.truth[rows].copy()
        flip = rng.random(BATCH) < 0.5
        blob[flip] = task.mirror(blob[flip])
        truth[flip, 1] *= -1
        for k in np.nonzero(rng.random(BATCH) < 0.5)[0]:
            blob[k, :3] = blob[k, rng.permutation(3)]
        yield torch.from_numpy(blob).to(memory_format=torch.channels_last), torch.from_numpy(truth)


def _step(
    task: Task,
    net: nn.Module,
    mean: nn.Module,
    blob: Tensor,
    truth: Tensor,
    chooser: torch.optim.Optimizer,
    schedule: torch.optim.lr_scheduler.LRScheduler,
) -> float:
    net.train()
    with torch.autocast("cpu", torch.bfloat16):
        answer = net(blob)
    value = task.loss(answer.float(), truth)
    chooser.zero_grad(set_to_none=True)
    value.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 5.0)
    chooser.step()
    schedule.step()
    _follow(mean, net, min(0.998, 1 - 10 / (10 + schedule.last_epoch)))
    return float(value.item())


def _follow(mean: nn.Module, net: nn.Module, keep: float) -> None:
    for old, new in zip(mean.state_dict().values(), net.state_dict().values(), strict=True):
        if old.dtype.is_floating_point:
            old.detach().mul_(keep).add_(new.detach(), alpha=1 - keep)
        else:
            old.copy_(new)


def answers(task: Task, net: nn.Module, data: Data) -> NDArray[np.float64]:
    """What the network says of every sample, a row each."""
    net.eval()
    result = []
    with torch.inference_mode():
        for start in range(0, len(data), 256):
            rows = slice(start, start + 256)
            blob = torch.from_numpy(task.blob(data.cutouts[rows], data.side[rows]))
            result.append(net(blob.to(memory_format=torch.channels_last)).double().numpy())
    return np.concatenate(result)


def report(task: Task, net: nn.Module, data: Data) -> str:
    figures = task.measure(answers(task, net, data), data.truth.astype(float))
    return "  ".join(f"{name} {value:.4f}" for name, value in figures.items())
