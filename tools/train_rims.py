"""Train the rim finder: draw scenes, teach the network, write src/overruler/vision/*.onnx and the logs in rims/.

python tools/train_rims.py draw  --out build/rims --scenes 8000
python tools/train_rims.py photos --out build/rims --truths renders/*.json   # optional: whole renders with their truth
python tools/train_rims.py learn --out build/rims --epochs 8
"""

import argparse
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import nn

from rims.data import LAST, generate, read, write
from rims.learn import Task, report, train
from rims.lessons import PATCHES, RINGS
from rims.photos import photo_samples

HERE = Path(__file__).parent
VISION = HERE.parent / "src" / "overruler" / "vision"
MODELS = {"patches": "rims.onnx", "rings": "rings.onnx"}
CHECK_SCENES = range(10**6, 10**6 + 250)
HELD_OUT = 5
"""One photo in so many is kept for the check."""


def main(arguments: Sequence[str] | None = None) -> None:
    options = _options(arguments)
    {"draw": draw, "photos": photos, "learn": learn}[options.what](options)


def draw(options: argparse.Namespace) -> None:
    generate(options.out / "check", options.seed, CHECK_SCENES, options.processes)
    generate(options.out / "train", options.seed, range(options.scenes), options.processes)


def photos(options: argparse.Namespace) -> None:
    """Samples of whole photos, one in five of them set aside."""
    for number, path in enumerate(sorted(options.truths)):
        folder = options.out / ("photos-check" if number % HELD_OUT == 0 else "photos") / path.stem
        if not (folder / LAST).exists():
            write(folder, [photo_samples(path, np.random.default_rng([options.seed, 9, number]))])


def learn(options: argparse.Namespace) -> None:
    torch.set_num_threads(1)  # two that wait for each other on a busy machine are slower
    for name, task in (("patches", PATCHES), ("rings", RINGS)):
        if options.only in (None, name):
            torch.manual_seed(options.seed)
            _learn(name, task, options)


def _learn(name: str, task: Task, options: argparse.Namespace) -> None:
    rings, model = name == "rings", options.models / MODELS[name]
    data = read(options.out / "train", options.out / "photos", rings=rings)
    checks = {name: read(options.out / name, rings=rings) for name in ("check", "photos-check")}
    lines: list[str] = []

    def say(line: str) -> None:
        print(line, flush=True)
        lines.append(line)

    def each(epoch: int, loss: float, mean: nn.Module) -> None:
        say(f"epoch {epoch:2d}  loss {loss:.4f}  {report(task, mean, checks['check'])}")
        export(mean, model)

    weights, bases = sum(p.numel() for p in task.net().parameters()), np.mean(data.truth[:, 0] == 1)
    say(f"{name}: seed {options.seed}  weights {weights}  samples {len(data)}  bases {bases:.3f}")
    net = train(task, data, options.epochs, options.seed, each)
    for where, check in checks.items():
        if len(check):
            say(f"final, {where}: {len(check)} samples  {report(task, net, check)}")
    (HERE / "rims" / f"{name}.log.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def export(net: nn.Module, path: Path) -> None:
    """The network as ONNX, any number of cutouts at a time."""
    net.eval()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the newer exporter needs packages of its own
        torch.onnx.export(
            net, (torch.zeros(1, *net.shape),), str(path), opset_version=13, input_names=["cutouts"],
            output_names=["answers"], dynamic_axes={"cutouts": {0: "n"}, "answers": {0: "n"}}, dynamo=False,
        )  # fmt: skip


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("draw", "photos", "learn"))
    parser.add_argument("--truths", type=Path, nargs="+", default=[], help="for photos: the renders' truth files")
    parser.add_argument("--out", type=Path, required=True, help="folder for the samples")
    parser.add_argument("--scenes", type=int, default=8000)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--only", choices=tuple(MODELS), help="teach one of the networks alone")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--models", type=Path, default=VISION, help="folder for the networks")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
