#!/usr/bin/env python3
"""How accurate is it? Measure photos whose truth is known and count.

    uv run tools/evaluate/accuracy.py sample_images

A folder holds NAME.jpg, NAME.json (the truth, as synthetic/render_samples.py writes it) and NAME.toml (the board file);
without that the board is what the truth says of its markers.
Each photo is measured as a user would measure it, without a lens file and without naming a game or sizes. One row a
photo:

    found     pieces found, of those with a quarter of their rim in sight or more
    false     findings that are no piece at all
    size      found pieces whose shape and size are right
    mm50 mm95 median and 95th percentile of |error| of the distance edge to edge, over all pairs
    in95      share of those distances whose truth lies within 1.96 stated σ: 0.95 is honest
    wrong     rulings called certain that are false, of all rulings (range bands of 152.4 mm)

Below it, of each call how often it is made, how likely it says that it is right, and how often it is; and, where there
are square plates, of how many it is told which way they face; where there are range rulers, how many are read, and how
well.

    uv run --with opencv-contrib-python-headless tools/evaluate/accuracy.py sample_images --tags

The same by what is special about photos and pieces (mat, light, tilt, camera, shape, share of the rim in sight), beside
what OpenCV's circle finders make of the same picture from above: found, right (findings that are pieces), size. Its
ellipse finder is only in the contrib wheel, and left out without it.

    uv run tools/evaluate/accuracy.py sample_images --verifier

What the learned look and the fit add to a ring filter, and whether a score of 0.9 is right nine times in ten.

    uv run tools/evaluate/accuracy.py markers

Draws pictures of markers whose corners are known exactly, 40 to 160 px large, at tilts up to 60°, sharp and soft, and
finds them by our own way and by OpenCV's:

    RMS       of the corners' errors, along u and along v alike
    bias      mean distance of corners outwards from their marker's middle (negative: towards it), ± its 1 σ
    u, v      mean error
    z²        mean square of a marker's eight errors in units of their stated joint doubt: 1 is honest

    uv run tools/evaluate/accuracy.py markers --lost --pictures 600

Draws markers of all families, sizes, tilts, blurs and places (600 pictures hold 10⁵), as a camera sees them and as a
program draws them in whole pixels, and counts those that OpenCV reads and we lose.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from evaluate.counting import peers, tags, verifier
from evaluate.counting.rulers import Rulers, rulers
from evaluate.counting.tally import Tally, Truth, calls, pairing_of, row, tally
from overruler.board import Board
from overruler.errors import OverrulerError
from overruler.frame import Frame
from overruler.referee import Referee
from overruler.report import Report
from overruler.sources.photo import load_photo

CARD = 1.4
"""A marker's white card against its black square."""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    what = "a folder of photos with their truth, or `markers`"
    parser.add_argument("folder", type=Path, nargs="?", default=Path("sample_images"), help=what)
    parser.add_argument(
        "--tags", action="store_true", help="by what is special about photos and pieces, with peers"
    )
    parser.add_argument(
        "--verifier",
        action="store_true",
        help="what the learned look adds, and how honest scores are",
    )
    parser.add_argument(
        "--pictures", type=int, default=30, help="with `markers`: how many, each sharp and soft"
    )
    parser.add_argument(
        "--lost", action="store_true", help="with `markers`: how many that are read are lost"
    )
    parser.add_argument("--seed", type=int, default=2026, help="with `markers`: other pictures")
    args = parser.parse_args()
    if args.folder == Path("markers"):
        return (lost_markers if args.lost else markers)(args.pictures, args.seed)
    photos = sorted(
        path for path in args.folder.glob("*.jpg") if path.with_suffix(".json").exists()
    )
    if not photos:
        print(f"{args.folder}: holds no NAME.jpg with NAME.json beside it", file=sys.stderr)
        return 2
    try:
        tables = by_verifier(photos) if args.verifier else by_photo(photos, args.tags)
    except OverrulerError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    Console(width=max(Console().width, 120)).print(*tables, sep="\n")
    return 0


def markers(pictures: int, seed: int) -> int:
    """Print how accurate markers' corners are."""
    from evaluate.corners.count import run, table

    trials = run(track(range(pictures), "drawing and finding", console=Console(stderr=True)), seed)
    Console(width=max(Console().width, 110)).print(table(trials))
    return 0


def lost_markers(pictures: int, seed: int) -> int:
    """Print how many markers that OpenCV reads are lost; the status is 1 if any is."""
    from evaluate.corners.lost import fates, lost_table

    drawn = track(range(pictures), "drawing and finding", console=Console(stderr=True))
    all_of = list(fates(drawn, seed))
    console = Console(width=max(Console().width, 110))
    console.print(lost_table(all_of))
    for fate in all_of:
        if fate.is_lost:
            console.print(f"lost: picture {fate.picture}, {fate.family} {fate.number}")
    return int(any(fate.is_lost for fate in all_of))


def measured(photos: list[Path]) -> Iterator[tuple[Path, Truth, Frame, Report]]:
    """Each photo with its truth, its pixels and what the program makes of it."""
    for photo in track(photos, "measuring", console=Console(stderr=True)):
        frame = load_photo(photo)
        truth = json.loads(photo.with_suffix(".json").read_text())
        yield photo, truth, frame, Referee(board_of(photo, truth)).look(frame)


def board_of(photo: Path, truth: Truth) -> Board:
    """The board file beside a photo; without one what its user would know: the markers' places, or their size alone."""
    if (beside := photo.with_suffix(".toml")).exists():
        return Board.load(beside)
    markers, size = truth["markers"], truth["board"]
    corners = {one["id"]: np.array(one["corners_mm"], float) for one in markers["items"]}
    known = corners if markers["layout"] == "known" else None
    return Board(
        photo.stem,
        markers["size_mm"],
        markers["dictionary"],
        size["width_mm"],
        size["height_mm"],
        known,
    )


def by_photo(photos: list[Path], tagged: bool) -> list[Table | str]:
    """How well each photo is measured, and with `tagged` what that hangs on."""
    rows: dict[str, Tally] = {}
    everything, lain, counts, others = (
        Tally(),
        Rulers(),
        tags.Counts(),
        peers.peers() if tagged else {},
    )
    for photo, truth, frame, report in measured(photos):
        counted = tally(report.scene, truth)
        everything.add(counted)
        lain.add(rulers(report, truth))
        rows[photo.stem] = counted
        if tagged:
            _tag(counts, truth, frame, report, counted)
    found, lines = table(rows | {"all": everything}), [*calls(everything), *headings_of(everything)]
    lines += [str(lain)] if lain.there or lain.false else []
    if not tagged:
        return [found, *lines]
    without = (
        []
        if "ellipses" in others
        else ["OpenCV's ellipse finder is not in this wheel: left out (see --help)"]
    )
    ordered = {tag: counts[tag] for tag in sorted(counts, key=lambda tag: (tag != "all", tag))}
    return [found, *lines, tags.table(ordered, [tags.OURS, *others]), *without]


def headings_of(counted: Tally) -> list[str]:
    """Which way plates face, where there are any."""
    told = f"the heading is told of {counted.headings}, its axis alone of {counted.axes}: {counted.astray} wrong"
    return [f"of {counted.plates} plates {told}"] if counted.plates else []


def table(counted: Mapping[str, Tally]) -> Table:
    """A row for each photo, the last one for all."""
    found = Table("photo", "found", "false", "size", "mm50", "mm95", "in95", "wrong")
    for name, one in counted.items():
        if name == "all":
            found.add_section()
        found.add_row(*row(name, one))
    return found


def _tag(counts: tags.Counts, truth: Truth, frame: Frame, report: Report, counted: Tally) -> None:
    """Count one photo under each of its tags, for us and for the peers."""
    above = peers.FromAbove.of(frame, report.calibration)
    by = {tags.OURS: counted} | {
        name: above.tally(find, truth) for name, find in peers.peers().items()
    }
    for tag in ("all", *tags.photo_tags(truth)):
        for who, one in by.items():
            tags.add(counts, tag, who, one)
    tags.add_pieces(counts, report.scene, pairing_of(report.scene, truth))


def by_verifier(photos: list[Path]) -> list[Table | str]:
    """What the verifier adds, over all photos together."""
    scored: dict[str, list[verifier.Scored]] = {step: [] for step in verifier.STEPS}
    there = 0
    for _, truth, frame, report in measured(photos):
        cards = [
            square.mean(0) + CARD * (square - square.mean(0))
            for square in report.calibration.squares_mm
        ]
        steps, pieces = verifier.judged(frame, report.calibration, cards, truth)
        there += pieces
        for step, rows in steps.items():
            scored[step].append(rows)
    return [
        verifier.gain(scored, there),
        verifier.honesty(np.concatenate(scored[verifier.STEPS[-1]])),
    ]


if __name__ == "__main__":
    sys.exit(main())
