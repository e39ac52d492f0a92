"""The loop that every network is trained by: how fast it learns, what is told of it, and the file it becomes."""

import argparse
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
from torch.optim.swa_utils import AveragedModel

from synthetic.arrays import Floats, Rng
from training.revived import revive

Loss = Callable[[Tensor, Tensor], Tensor]
Batch = tuple[NDArray[np.float32], NDArray[np.float32]] | tuple[Tensor, Tensor]
Check = Callable[[nn.Module], str]
Report = Callable[[int, float, nn.Module], None]


def begin(
    make: Callable[[], nn.Module],
    options: argparse.Namespace,
    alike: bool = True,
    pictures: Tensor | None = None,
) -> nn.Module:
    """A network with the weights of `options.start`; where the two are not alike, with those of the same shape.

    Those of an ONNX file need some `pictures` (N, channels, H, W) to begin with.
    """
    torch.set_num_threads(1)  # two that wait for each other on a busy machine are slower
    torch.manual_seed(options.seed)
    net = make()
    if options.start is not None and options.start.suffix == ".onnx":
        if pictures is None:
            raise ValueError(f"{options.start}: this network can begin with weights alone (.pt)")
        revive(net, options.start, pictures)
    elif options.start is not None:
        known, own = torch.load(options.start, "cpu"), net.state_dict()
        if not alike:
            known = own | {
                name: w for name, w in known.items() if name in own and own[name].shape == w.shape
            }
        net.load_state_dict(known)
    return net


def learning_rate(progress: float) -> float:
    """As a share of the highest: up in the first twentieth, then down by a cosine."""
    warm = min(1.0, (progress + 0.003) / 0.05)
    return float(warm * (0.5 + 0.5 * np.cos(np.pi * min(progress, 1.0))) + 1e-3)


def averaged(old: Tensor, new: Tensor, steps: Tensor) -> Tensor:
    """A running mean of weights that forgets the first ones sooner."""
    keep = min(0.998, 1 - 10 / (11 + int(steps)))
    return old * keep + new * (1 - keep)


def step(net: nn.Module, pair: Batch, optimizer: torch.optim.Optimizer, loss_of: Loss) -> Tensor:
    """Learn from one batch, its input and its truth; the loss."""
    net.train()
    blob, truth = (torch.as_tensor(part).to(device_of(net)) for part in pair)
    with torch.autocast("cpu", torch.bfloat16):
        answer = net(blob.to(memory_format=torch.channels_last))
    value = loss_of(answer.float(), truth)
    optimizer.zero_grad(set_to_none=True)
    value.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 5.0)
    optimizer.step()
    return value.detach()


def checks_of(
    batch: Callable[[Rng], tuple[Floats, Floats]], count: int
) -> list[tuple[Tensor, ...]]:
    """So many batches that nothing is learnt from, always the same."""
    rng = np.random.default_rng(77)
    return [tuple(map(torch.from_numpy, batch(rng))) for _ in range(count)]


def check_of(checks: Sequence[tuple[Tensor, ...]], loss_of: Loss) -> Check:
    """Tells a network's mean loss on batches that nothing is learnt from."""

    def check(net: nn.Module) -> str:
        net.eval()
        with torch.inference_mode():
            pairs = ([part.to(device_of(net)) for part in pair] for pair in checks)
            return (
                f"check {np.mean([float(loss_of(net(blob), truth)) for blob, truth in pairs]):.4f}"
            )

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
    """Learn for `options.minutes`, at most at `options.rate`; the running mean of the weights.

    `draw` gives a batch; after `every` so many steps `report` hears their number, the mean loss, and that mean.
    """
    net = net.to(options.device, memory_format=torch.channels_last)
    mean, losses = (
        AveragedModel(net, avg_fn=averaged, use_buffers=True),
        deque[Tensor](maxlen=every),
    )
    optimizer = torch.optim.AdamW(net.parameters(), lr=options.rate, weight_decay=1e-3)
    start, steps = time.monotonic(), 0
    while (progress := (time.monotonic() - start) / 60 / options.minutes) < 1:
        for group in optimizer.param_groups:
            group["lr"] = options.rate * learning_rate(progress)
        losses.append(step(net, draw(), optimizer, loss_of))
        steps += 1
        mean.update_parameters(net)
        if steps % every == 0:
            report(steps, float(torch.stack(list(losses)).mean()), mean.module)
    return mean.module.cpu()


def add_options(
    parser: argparse.ArgumentParser, minutes: float, rate: float, model: Path, batch: int = 16
) -> None:
    """How long and how fast `train` is to go, where and from where, and where the network goes."""
    parser.add_argument("--minutes", type=float, default=minutes)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rate", type=float, default=rate, help="the highest learning rate")
    parser.add_argument("--device", default="cpu", help="where to learn: cpu or cuda")
    parser.add_argument(
        "--workers",
        type=int,
        default=0,
        help="processes that draw batches beside the one that learns",
    )
    parser.add_argument("--batch", type=int, default=batch)
    parser.add_argument("--start", type=Path, help="weights to start from: .pt, or .onnx")
    parser.add_argument("--model", type=Path, default=model, help="the network's file")


def export(
    net: nn.Module,
    path: Path,
    example: tuple[int, ...] = (1, 5, 128, 128),
    names: tuple[str, str] = ("picture", "answers"),
    axes: Mapping[int, str] = MappingProxyType({2: "rows", 3: "columns"}),
) -> None:
    """A network as ONNX, its input like the example but of any size along some axes; one that looks from above."""
    net.eval()
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", DeprecationWarning
        )  # the newer exporter needs packages of its own
        torch.onnx.export(
            net, (torch.zeros(*example),), str(path), opset_version=13, input_names=names[:1], output_names=names[1:],
            dynamic_axes={name: dict(axes) for name in names}, dynamo=False,
        )  # fmt: skip
