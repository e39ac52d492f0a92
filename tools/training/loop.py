"""The loop that every network is trained by: how fast it learns, what is told of it, and the file it becomes."""

import argparse
import time
import warnings
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel

from synthetic.arrays import Floats
from training.revived import revive

Loss = Callable[[Tensor, Tensor], Tensor]
Batch = tuple[Floats, Floats] | tuple[Tensor, Tensor]
Check = Callable[[nn.Module], str]
Report = Callable[[int, float, nn.Module], None]


@dataclass(frozen=True, slots=True)
class Interface:
    """A network's file from outside."""

    example: tuple[int, ...] = (1, 5, 128, 128)
    """The shape of an input."""
    names: tuple[str, str] = ("picture", "answers")
    """Of the input and of the output."""
    axes: Mapping[int, str] = field(
        default_factory=lambda: MappingProxyType({2: "rows", 3: "columns"})
    )
    """Those along which an input may have any size, with their names."""


def begin(
    make: Callable[[], nn.Module],
    options: argparse.Namespace,
    pictures: Tensor,
    revived: Callable[[nn.Module], None],
) -> nn.Module:
    """A network with the weights of `options.start` that it has in the same shape.

    Those of an ONNX file need some `pictures` (N, channels, H, W), and what is done to such a network.
    """
    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    net = make()
    if options.start is None:
        return net
    if options.start.suffix == ".onnx":
        revive(net, options.start, pictures)
        revived(net)
        return net
    own, known = net.state_dict(), torch.load(options.start, "cpu")
    same = {name: w for name, w in known.items() if name in own and own[name].shape == w.shape}
    if not same:
        raise ValueError(f"{options.start}: holds no weights of this network")
    net.load_state_dict(own | same)
    return net


def learning_rate(progress: float) -> float:
    """As a share of the highest: up in the first twentieth, then down by a cosine."""
    warm = min(1.0, (progress + 0.003) / 0.05)
    return float(warm * (0.5 + 0.5 * np.cos(np.pi * min(progress, 1.0))) + 1e-3)


def parameter_groups(net: nn.Module, trunk_rate: float) -> list[dict[str, Any]]:
    """What knows photographs already, and the rest, each with its share of the learning rate."""
    groups: dict[float, list[Tensor]] = {}
    for name, weights in net.named_parameters():
        knows = name.startswith("trunk.") and ".aside." not in name
        groups.setdefault(trunk_rate if knows else 1.0, []).append(weights)
    return [{"params": some, "share": share} for share, some in groups.items()]


def averaged(old: Tensor, new: Tensor, steps: Tensor) -> Tensor:
    """A running mean of weights that forgets the first ones sooner."""
    keep = min(0.998, 1 - 10 / (11 + int(steps)))
    return old * keep + new * (1 - keep)


def step(net: nn.Module, pair: Batch, optimizer: torch.optim.Optimizer, loss_of: Loss) -> Tensor:
    """Learn from one batch, its input and its truth; the loss."""
    net.train()
    blob, truth = (torch.as_tensor(part).to(device_of(net)) for part in pair)
    answer = net(blob.to(memory_format=torch.channels_last))
    value = loss_of(answer, truth)
    optimizer.zero_grad(set_to_none=True)
    value.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 5.0)
    optimizer.step()
    return value.detach()


def check_of(checks: Sequence[tuple[Tensor, Tensor]], loss_of: Loss) -> Check:
    """Tells a network's mean loss on batches that nothing is learnt from."""

    def check(net: nn.Module) -> str:
        net.eval()
        with torch.inference_mode():
            pairs = ([part.to(device_of(net)) for part in pair] for pair in checks)
            losses = [float(loss_of(net(blob), truth)) for blob, truth in pairs]
        return f"check {np.mean(losses):.4f}"

    return check


def reporting(log: Path, head: str, check: Check, weights: Path) -> Report:
    """Prints a line of what was learnt and of the check, adds it to a new log, and keeps the weights."""
    print(head, flush=True)
    log.write_text(f"{head}\n", encoding="utf-8")

    def report(steps: int, lost: float, mean: nn.Module) -> None:
        line = f"step {steps:5d}  loss {lost:.4f}  {check(mean)}"
        print(line, flush=True)
        with log.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")
        torch.save(mean.state_dict(), weights)

    return report


def device_of(net: nn.Module) -> torch.device:
    return next(net.parameters()).device


def train(
    net: nn.Module,
    draw: Callable[[], Batch],
    loss_of: Loss,
    options: argparse.Namespace,
    every: int,
    report: Report,
) -> nn.Module:
    """Learn for `options.minutes`, at most at `options.rate`, the trunk at a share of it; the weights' running mean.

    `draw` gives a batch; after every so many steps `report` hears their number, the mean loss, and that mean.
    """
    net = net.to(options.device, memory_format=torch.channels_last)
    mean = AveragedModel(net, avg_fn=averaged, use_buffers=True)
    losses = deque[Tensor](maxlen=every)
    groups = parameter_groups(net, options.trunk_rate)
    optimizer = torch.optim.AdamW(groups, lr=options.rate, weight_decay=1e-3)
    start, steps = time.monotonic(), 0
    while (progress := (time.monotonic() - start) / 60 / options.minutes) < 1:
        for group in optimizer.param_groups:
            group["lr"] = options.rate * group["share"] * learning_rate(progress)
        losses.append(step(net, draw(), optimizer, loss_of))
        steps += 1
        mean.update_parameters(net)
        if steps % every == 0:
            report(steps, float(torch.stack(list(losses)).mean()), mean.module)
    return mean.module.cpu()


def export(net: nn.Module, path: Path, interface: Interface) -> None:
    """Write a network as ONNX."""
    net.eval()
    inside, outside = interface.names
    axes = {name: dict(interface.axes) for name in interface.names}
    with warnings.catch_warnings():  # the newer exporter needs packages of its own
        warnings.simplefilter("ignore", DeprecationWarning)
        torch.onnx.export(
            net, (torch.zeros(*interface.example),), str(path), opset_version=13,
            input_names=[inside], output_names=[outside], dynamic_axes=axes, dynamo=False,
        )  # fmt: skip
