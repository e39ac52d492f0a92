"""Train the rim finder: draw scenes, teach the network, write its networks, with its log.

python tools/training/train_rims.py draw  --out build/rims --scenes 8000
python tools/training/train_rims.py photos --out build/rims --truths renders/*.json
python tools/training/train_rims.py learn --out build/rims --minutes 20
"""

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from multiprocessing import Pool
from pathlib import Path

import cv2
import numpy as np
import torch
from torch import nn

from overruler.vision.learned.inference import WEIGHTS
from synthetic.arrays import Floats
from training.feeding import HELD_OUT, Draw, fed, mixed
from training.lessons.rims.data import LAST, Data, generate, read, write
from training.lessons.rims.learn import Task, batch, figures
from training.lessons.rims.lessons import PATCHES, RINGS
from training.lessons.rims.photos import photo_samples
from training.loop import add_options, begin, export, reporting, train

HERE = Path(__file__).parent
VISION = WEIGHTS
MODELS = {"patches": "rims.onnx", "rings": "rings.onnx"}
CHECK_SCENES = range(10**6, 10**6 + 250)
BATCH, RATE, SAY_EVERY = 128, 3e-3, 1000
TRACED = 0.3
"""The share of samples that are of whole photos, where there are such."""


def main(arguments: Sequence[str] | None = None) -> None:
    options = _options(arguments)
    {"draw": draw, "photos": photos, "learn": learn}[options.what](options)


def draw(options: argparse.Namespace) -> None:
    generate(options.out / "check", options.seed, CHECK_SCENES, options.processes)
    generate(options.out / "train", options.seed, range(options.scenes), options.processes)


def photos(options: argparse.Namespace) -> None:
    """Samples of whole photos, one in ten of them set aside."""
    with Pool(options.processes) as pool:
        for _ in pool.imap_unordered(partial(_photo, options), enumerate(sorted(options.truths))):
            pass


def _photo(options: argparse.Namespace, one: tuple[int, Path]) -> None:
    number, path = one
    folder = options.out / ("photos-check" if number % HELD_OUT == 0 else "photos") / path.stem
    if not (folder / LAST).exists():
        cv2.setNumThreads(1)
        write(folder, [photo_samples(path, np.random.default_rng([options.seed, 9, number]))])


def learn(options: argparse.Namespace) -> None:
    for name, task in (("patches", PATCHES), ("rings", RINGS)):
        if options.only in (None, name):
            _learn(name, task, options)


def _learn(name: str, task: Task, options: argparse.Namespace) -> None:
    rings = name == "rings"
    drawn, traced = (read(options.out / where, rings=rings) for where in ("train", "photos"))
    checks = {where: read(options.out / where, rings=rings) for where in ("check", "photos-check")}
    shares = np.array([1 - TRACED, TRACED]) * [len(drawn) > 0, len(traced) > 0]

    def samples(which: int) -> Draw:
        rng = np.random.default_rng([options.seed, 5, which])
        kinds = [partial(batch, task, data, rng) for data in (drawn, traced)]
        return lambda: mixed(rng, options.batch, shares / shares.sum(), kinds)

    def check(net: nn.Module) -> str:
        return "  ".join(
            f"{where}: {figures(task, net, some)}" for where, some in checks.items() if len(some)
        )

    head = (
        f"{name}: seed {options.seed}  samples {len(drawn)} + {len(traced)}  batch {options.batch}"
    )
    model: Path = options.model.parent / MODELS[name]
    report = reporting(HERE / "logs" / f"{name}.log.txt", head, check, model.with_suffix(".pt"))
    begun = begin(task.net, options, pictures=torch.from_numpy(shown(task, checks["check"])))
    net = train(begun, fed(samples, options.workers), task.loss, options, SAY_EVERY, report)
    export(net, model, (1, *net.shape), ("cutouts", "answers"), {0: "n"})


def shown(task: Task, data: Data, count: int = 256) -> Floats:
    """So many of the samples as the network takes them, evenly out of all."""
    rows = np.linspace(0, len(data) - 1, count).astype(int)
    return task.blob(data.cutouts[rows], data.side[rows])


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("draw", "photos", "learn"))
    parser.add_argument(
        "--truths", type=Path, nargs="+", default=[], help="for photos: the renders' truth files"
    )
    parser.add_argument("--out", type=Path, required=True, help="folder for the samples")
    parser.add_argument("--scenes", type=int, default=8000)
    parser.add_argument("--only", choices=tuple(MODELS), help="teach one of the networks alone")
    parser.add_argument("--processes", type=int, default=2)
    add_options(parser, 20.0, RATE, VISION / "rims.onnx", BATCH)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
