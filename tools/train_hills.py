"""Train the finder of hills: writes src/overruler/vision/hills.onnx and its log in hills/.

python tools/train_hills.py draw  --out build/hills --blocks 40
python tools/train_hills.py learn --out build/hills --minutes 25
"""

import argparse
import copy
import sys
import time
import warnings
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import torch
from torch import nn

from hills.learn import Tables, batch, figures, follow, loss_of, put_right
from hills.network import INPUTS, HillNet
from hills.scene import Sample

HERE = Path(__file__).parent
MODEL = HERE.parent / "src" / "overruler" / "vision" / "hills.onnx"
SIZE_PX, BLOCK, TILES = 256, 200, 150
CHECK = 10**6
"""Tables from this number on are kept for the check."""
BATCH, RATE = 8, 4e-3
SAY_EVERY = 200


def main(arguments: Sequence[str] | None = None) -> None:
    options = _options(arguments)
    cv2.setNumThreads(1)
    {"draw": draw, "learn": learn}[options.what](options)


def draw(options: argparse.Namespace) -> None:
    from hills.mats import tiles

    options.out.mkdir(parents=True, exist_ok=True)
    stuff = tiles(options.seed, TILES)
    _draw_block(options, stuff, CHECK, "check")
    for first in range(0, options.blocks * BLOCK, BLOCK):
        _draw_block(options, stuff, first, "train")


def _draw_block(options: argparse.Namespace, stuff: Sequence[np.ndarray], first: int, kind: str) -> None:
    from hills.scene import sample

    path = options.out / f"{kind}{options.seed}_{first:07d}.npz"
    if path.exists():
        return
    some = [sample([options.seed, first + k], stuff, SIZE_PX) for k in range(BLOCK)]
    names = ("pixels", "lean", "shares", "above_mm")
    columns: dict[str, Any] = {name: np.stack([getattr(one, name) for one in some]) for name in names}
    partly = path.with_suffix(".part")
    with partly.open("wb") as file:
        np.savez(file, **columns)
    partly.rename(path)


def learn(options: argparse.Namespace) -> None:
    """Teach for so many minutes, on one core; tables that are still being drawn come in as they are ready."""
    torch.set_num_threads(1)
    torch.manual_seed(options.seed)
    net = HillNet().to(memory_format=torch.channels_last)
    if options.start is not None:
        net.load_state_dict(torch.load(options.start))
    mean, rng, losses = copy.deepcopy(net), np.random.default_rng([options.seed, 5]), deque[float](maxlen=SAY_EVERY)
    chooser = torch.optim.AdamW(net.parameters(), lr=options.rate, weight_decay=1e-3)
    tables, checks = Tables(options.out, "train*.npz"), Tables(options.out, "check*.npz").samples
    lines = [f"seed {options.seed}  weights {sum(p.numel() for p in net.parameters())}  minutes {options.minutes:g}"]
    began, step = time.monotonic(), 0
    while (progress := (time.monotonic() - began) / 60 / options.minutes) < 1:
        for group in chooser.param_groups:
            group["lr"] = options.rate * _share(progress)
        losses.append(_step(net, tables, rng, chooser))
        step += 1
        follow(mean, net, min(0.995, 1 - 10 / (10 + step)))
        if step % SAY_EVERY == 0:
            lines.append(_said(step, losses, mean, checks, len(tables.samples)))
            print(lines[-1], flush=True)
            tables.refresh()
            export(mean, options.model)
            torch.save(mean.state_dict(), options.out / "hills.pt")
    lines.append(_said(step, losses, mean, checks, len(tables.samples)))
    export(mean, options.model)
    torch.save(mean.state_dict(), options.out / "hills.pt")
    (HERE / "hills" / "hills.log.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _share(progress: float) -> float:
    """The learning rate: up in the first twentieth, then down by a cosine."""
    return float(min(1.0, (progress + 0.003) / 0.05) * (0.5 + 0.5 * np.cos(np.pi * progress)) + 1e-3)


def _step(net: nn.Module, tables: Tables, rng: np.random.Generator, chooser: torch.optim.Optimizer) -> float:
    net.train()
    blob, truth, above = batch(tables.samples, rng, BATCH)
    with torch.autocast("cpu", torch.bfloat16):
        answer = net(blob)
    value = loss_of(answer.float(), truth, above)
    chooser.zero_grad(set_to_none=True)
    value.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 3.0)
    chooser.step()
    return float(value.item())


def _said(step: int, losses: Sequence[float], mean: nn.Module, checks: Sequence[Sample], count: int) -> str:
    checked = "  ".join(f"{name} {value:.4f}" for name, value in figures(mean, checks).items())
    return f"step {step:5d}  loss {np.mean(losses):.4f}  tables {count}  check: {checked}"


def export(net: nn.Module, path: Path) -> None:
    """The network as ONNX, for pictures of any size."""
    net = put_right(net)
    axes = {2: "rows", 3: "columns"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the newer exporter needs packages of its own
        torch.onnx.export(
            net, (torch.zeros(1, INPUTS, SIZE_PX, SIZE_PX),), str(path), opset_version=13, input_names=["picture"],
            output_names=["answers"], dynamic_axes={"picture": axes, "answers": axes}, dynamo=False,
        )  # fmt: skip


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("draw", "learn"))
    parser.add_argument("--out", type=Path, required=True, help="folder of the drawn tables")
    parser.add_argument("--blocks", type=int, default=40, help=f"blocks of {BLOCK} tables to draw")
    parser.add_argument("--minutes", type=float, default=25, help="how long to teach")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rate", type=float, default=RATE, help="the highest learning rate")
    parser.add_argument("--start", type=Path, help="weights to start from, as an earlier run left them in --out")
    parser.add_argument("--model", type=Path, default=MODEL, help="the network's file")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
