"""What counts as a mistake, and how fast is learnt."""

import argparse
import copy
import time
import warnings
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from shapes.crops import Floats
from shapes.network import INPUTS

Loss = Callable[[Tensor, Tensor], Tensor]
Batch = tuple[NDArray[np.float32], NDArray[np.float32]] | tuple[Tensor, Tensor]
Said = Callable[[int, float, nn.Module], None]

PLACE, SIZE, TURN = 1.0, 3.0, 0.7
"""How much each kind of mistake weighs beside taking a base for none."""


def loss(answer: Tensor, truth: Tensor) -> Tensor:
    """Penalty-reduced focal loss of the heat (Zhou et al., Objects as Points, 2019), and how far the rest is off."""
    heat, counts, near = truth[:, :3], truth[:, 3:4], truth[:, 4]
    logit = answer[:, :3]
    p = torch.sigmoid(logit).clamp(1e-4, 1 - 1e-4)
    hit = heat > 0.999
    found = ((1 - p) ** 2 * nn.functional.logsigmoid(logit))[hit].sum()
    missed = ((1 - heat) ** 4 * p**2 * nn.functional.logsigmoid(-logit) * counts)[~hit].sum()
    total = -(found + missed) / hit.sum().clamp(min=1)
    on = near > 0
    if not on.any():
        return total
    said, true = answer.permute(0, 2, 3, 1)[on], truth.permute(0, 2, 3, 1)[on]
    place = nn.functional.smooth_l1_loss(said[:, 3:5], true[:, 5:7], beta=0.1)
    size = nn.functional.smooth_l1_loss(said[:, 5:7], true[:, 7:9], beta=0.03)
    turn = sum(
        (((said[:, 7 + 2 * k : 9 + 2 * k] - true[:, 9 + 2 * k : 11 + 2 * k]) ** 2).sum(1) * true[:, 15 + k]).sum()
        / true[:, 15 + k].sum().clamp(min=1)
        for k in range(3)
    )
    return total + PLACE * place + SIZE * size + TURN * turn


def share(progress: float) -> float:
    """The learning rate: up in the first twentieth, then down by a cosine."""
    warm = min(1.0, (progress + 0.003) / 0.05)
    return float(warm * (0.5 + 0.5 * np.cos(np.pi * min(progress, 1.0))) + 1e-3)


def follow(mean: nn.Module, net: nn.Module, keep: float) -> None:
    """Move the running mean of the weights on."""
    for old, new in zip(mean.state_dict().values(), net.state_dict().values(), strict=True):
        if old.dtype.is_floating_point:
            old.detach().mul_(keep).add_(new.detach(), alpha=1 - keep)
        else:
            old.copy_(new)


def step(net: nn.Module, pair: Batch, chooser: torch.optim.Optimizer, loss_of: Loss) -> Tensor:
    """Learn from one batch, its input and its truth; the loss."""
    net.train()
    blob, truth = (torch.as_tensor(part).to(device_of(net)) for part in pair)
    with torch.autocast("cpu", torch.bfloat16):
        answer = net(blob.to(memory_format=torch.channels_last))
    value = loss_of(answer.float(), truth)
    chooser.zero_grad(set_to_none=True)
    value.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 5.0)
    chooser.step()
    return value.detach()


def checked(net: nn.Module, checks: Sequence[tuple[Tensor, ...]], loss_of: Loss) -> float:
    """The mean loss of batches that nothing is learnt from."""
    net.eval()
    with torch.inference_mode():
        pairs = ([part.to(device_of(net)) for part in pair] for pair in checks)
        return float(np.mean([float(loss_of(net(blob), truth)) for blob, truth in pairs]))


def checks_of(batch: Callable[[np.random.Generator], tuple[Floats, Floats]], count: int) -> list[tuple[Tensor, ...]]:
    """So many batches that nothing is learnt from, always the same."""
    rng = np.random.default_rng(77)
    return [tuple(map(torch.from_numpy, batch(rng))) for _ in range(count)]


def reporting(lines: list[str], checks: Sequence[tuple[Tensor, ...]], loss_of: Loss, model: Path) -> Said:
    """Adds a line of what was learnt and of the check, prints it, and keeps the weights beside the network's file."""

    def said(steps: int, lost: float, mean: nn.Module) -> None:
        lines.append(f"step {steps:5d}  loss {lost:.4f}  check {checked(mean, checks, loss_of):.4f}")
        print(lines[-1], flush=True)
        torch.save(mean.state_dict(), model.with_suffix(".pt"))

    return said


def device_of(net: nn.Module) -> torch.device:
    return next(net.parameters()).device


def teach(
    net: nn.Module, draw: Callable[[], Batch], loss_of: Loss, options: argparse.Namespace, every: int, said: Said
) -> nn.Module:
    """Learn for `options.minutes`, at most at `options.rate`; the running mean of the weights.

    `draw` gives a batch; after `every` so many steps `said` hears their number, the mean loss, and that mean.
    """
    net = net.to(options.device, memory_format=torch.channels_last)
    mean, losses = copy.deepcopy(net), deque[Tensor](maxlen=every)
    chooser = torch.optim.AdamW(net.parameters(), lr=options.rate, weight_decay=1e-3)
    begin, steps = time.monotonic(), 0
    while (progress := (time.monotonic() - begin) / 60 / options.minutes) < 1:
        for group in chooser.param_groups:
            group["lr"] = options.rate * share(progress)
        losses.append(step(net, draw(), chooser, loss_of))
        steps += 1
        follow(mean, net, min(0.998, 1 - 10 / (10 + steps)))
        if steps % every == 0:
            said(steps, float(torch.stack(list(losses)).mean()), mean)
    return mean.cpu()


def add_options(parser: argparse.ArgumentParser, minutes: float, rate: float, model: Path, batch: int = 16) -> None:
    """How long and how fast `teach` is to go, where and from where, and where the network goes."""
    parser.add_argument("--minutes", type=float, default=minutes)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rate", type=float, default=rate, help="the highest learning rate")
    parser.add_argument("--device", default="cpu", help="where to learn: cpu or cuda")
    parser.add_argument("--workers", type=int, default=0, help="processes that draw batches beside the one that learns")
    parser.add_argument("--batch", type=int, default=batch)
    parser.add_argument("--start", type=Path, help="weights to start from")
    parser.add_argument("--model", type=Path, default=model, help="the network's file")


def export(
    net: nn.Module,
    path: Path,
    example: tuple[int, ...] = (1, INPUTS, 128, 128),
    names: tuple[str, str] = ("picture", "answers"),
    axes: Mapping[int, str] = MappingProxyType({2: "rows", 3: "columns"}),
) -> None:
    """A network as ONNX, its input like the example but of any size along some axes; one that looks from above."""
    net.eval()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the newer exporter needs packages of its own
        torch.onnx.export(
            net, (torch.zeros(*example),), str(path), opset_version=13, input_names=names[:1], output_names=names[1:],
            dynamic_axes={name: dict(axes) for name in names}, dynamo=False,
        )  # fmt: skip
