"""Train one of the networks: writes NAME.onnx among the weights, and its log.

    python tools/training/train.py overview --tables build/tables --minutes 60
    python tools/training/train.py discs --tables build/tables --minutes 8 --device cuda --workers 4 --batch 64
    python tools/training/train.py hills --draw --samples build/hills --tables build/tables --count 40
    python tools/training/train.py hills --samples build/hills --minutes 25

With `--sprites FILE` the figures of drawn tables are real meshes: `synthetic/sprites/make.py` writes the file.

TABLES holds traced tables with their truth, as `synthetic/render_samples.py --crowded` writes them. Some lessons draw
other tables while the network learns; others learn from samples that `--draw` draws first.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path

import cv2

from overruler.vision.learned.inference import WEIGHTS
from training.blocks import draw_blocks
from training.feeding import fed
from training.lesson import Lesson
from training.loop import begin, export, reporting, train

LOGS = Path(__file__).parent / "logs"
LESSONS = {
    "overview": "training.lessons.shapes.angular",
    "regiments": "training.lessons.shapes.regiments",
    "discs": "training.lessons.shapes.discs",
    "discs_in_play": "training.lessons.shapes.discs",
    "plate_face": "training.lessons.shapes.faces",
    "plate_heading": "training.lessons.shapes.headings",
    "plate_edges": "training.lessons.shapes.sides",
    "rectangle_edges": "training.lessons.shapes.sides",
    "regiment_edges": "training.lessons.shapes.regiment_sides",
    "hills": "training.lessons.hills.learn",
    "rims": "training.lessons.rims.lessons",
    "rings": "training.lessons.rims.lessons",
    "prints": "training.lessons.rims.lessons",
    "cards": "training.lessons.rims.lessons",
    "in_play": "training.lessons.in_play.learn",
    "in_play_first": "training.lessons.in_play.learn",
}
"""Where the lesson of each network stands, in `LESSONS` of that module."""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = _parser()
    options = parser.parse_args(arguments)
    cv2.setNumThreads(1)
    lesson: Lesson = import_module(LESSONS[options.name]).LESSONS[options.name]
    missing = [f"--{one}" for one in lesson.needs(options.draw) if getattr(options, one) is None]
    if missing:
        parser.error(f"{options.name} needs {' and '.join(missing)}")
    if options.draw and lesson.drawing is None:
        parser.error(f"{options.name} learns from tables alone: nothing is to be drawn first")
    for option in ("batch", "rate", "trunk_rate"):
        if getattr(options, option) is None:
            setattr(options, option, getattr(lesson, option))
    options.model = options.model or WEIGHTS / f"{options.name}.onnx"
    if options.draw and lesson.drawing is not None:
        draw_blocks(options, lesson.drawing)
    else:
        learn(options, lesson)
    return 0


def learn(options: argparse.Namespace, lesson: Lesson) -> None:
    """Teach the network for so many minutes, and write it."""
    feed = lesson.feed(options)
    draw = fed(feed.draws, options.workers)  # before any GPU is touched
    net = begin(lesson.network, options, feed.pictures, lesson.revived)
    head = f"seed {options.seed}  batch {options.batch}  {feed.told}"
    log, weights = LOGS / f"{options.model.stem}.log.txt", options.model.with_suffix(".pt")
    report = reporting(log, head, feed.check, weights)
    every = options.every or lesson.say_every
    mean = train(net, draw, lesson.loss, options, every, report)
    export(lesson.finished(mean), options.model, lesson.interface)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add: Callable[..., argparse.Action] = parser.add_argument
    add("name", choices=tuple(LESSONS), metavar="NAME", help=f"one of {', '.join(LESSONS)}")
    add("--tables", type=Path, help="folder of traced tables with their truth")
    add("--samples", type=Path, help="folder of drawn samples")
    add("--draw", action="store_true", help="draw samples, and learn nothing")
    add("--sprites", type=Path, help="file of figures on drawn bases (synthetic/sprites/make.py)")
    add("--count", type=int, default=40, help="with --draw: how many blocks of samples")
    add("--minutes", type=float, default=20.0, help="how long to learn")
    add("--seed", type=int, default=1)
    add("--rate", type=float, help="the highest learning rate")
    add("--trunk-rate", type=float, help="that of weights that know photographs, as a share of it")
    add("--batch", type=int, help="samples in a batch")
    add("--device", default="cpu", help="where to learn: cpu or cuda")
    threads = (
        "threads that learn: two that wait for each other on a busy machine are slower than one"
    )
    add("--threads", type=int, default=1, help=threads)
    add("--workers", type=int, default=0, help="processes that draw beside the one that learns")
    add("--every", type=int, help="steps between two lines of the log, where not as usual")
    add("--start", type=Path, help="weights to start from: .pt, or .onnx")
    corrects = "in_play: the network (.onnx) that corrects candidates, as a finder has it do"
    add("--before", type=Path, help=corrects)
    add("--model", type=Path, help="the network's file, where it is not to be NAME.onnx")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
