"""Training: batches, whatever is learned, and how good it has become."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from synthetic.arrays import Picture
from synthetic.arrays import Floats, Rng
from training.lessons.rims.data import Data

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


def batch(task: Task, data: Data, rng: Rng, count: int) -> tuple[Floats, Floats]:
    """So many samples, half of them mirrored, in half of them the colours swapped."""
    rows = np.sort(rng.integers(0, len(data), count))
    blob, truth = task.blob(data.cutouts[rows], data.side[rows]), data.truth[rows].copy()
    flip = rng.random(count) < 0.5
    blob[flip] = task.mirror(blob[flip])
    truth[flip, 1] *= -1
    for k in np.nonzero(rng.random(count) < 0.5)[0]:
        blob[k, :3] = blob[k, rng.permutation(3)]
    return blob, truth


def answers(task: Task, net: nn.Module, data: Data) -> NDArray[np.float64]:
    """What the network says of every sample, a row each."""
    net.eval()
    device, result = next(net.parameters()).device, []
    with torch.inference_mode():
        for start in range(0, len(data), 256):
            rows = slice(start, start + 256)
            blob = torch.from_numpy(task.blob(data.cutouts[rows], data.side[rows])).to(device)
            result.append(net(blob.to(memory_format=torch.channels_last)).double().cpu().numpy())
    return np.concatenate(result)


def figures(task: Task, net: nn.Module, data: Data) -> str:
    found = task.measure(answers(task, net, data), data.truth.astype(float))
    return "  ".join(f"{name} {value:.4f}" for name, value in found.items())
