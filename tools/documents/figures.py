#!/usr/bin/env python3
"""The figures of README.md and docs/accuracy.md: measured anew, and written or checked.

    uv run tools/documents/figures.py --write     # the table into both pages, its sum into a sentence, the plots
    uv run tools/documents/figures.py             # status 1 where the pages say otherwise than what is measured

The table is that of evaluate/accuracy.py over sample_images. One plot counts how often the truth lies within what is
stated, the other how large errors are.
"""

import argparse
import io
import re
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from rich.console import Console

from evaluate.accuracy import measured, table
from evaluate.counting.tally import Tally, calls, tally
from overruler.verdict import CERTAIN_PROBABILITY

ROOT = Path(__file__).parents[2]
SAMPLES, PICTURES = ROOT / "sample_images", ROOT / "docs" / "pictures"
PAGES = (ROOT / "README.md", ROOT / "docs" / "accuracy.md")
TABLE = re.compile(r"(?<=```text\n)┏.*?(?=```)", re.S)
SENTENCE = re.compile(r"(?<=Of the )\d+(?= rulings that it called certain on the sample photos)")
WIDE = 120


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="write the pages and the plots")
    args = parser.parse_args()
    photos = sorted(path for path in SAMPLES.glob("*.jpg") if path.with_suffix(".json").exists())
    counted = {
        photo.stem: tally(report.scene, truth) for photo, truth, _, report in measured(photos)
    }
    if args.write:
        plots(counted)
    everything = together(counted)
    text = printed(counted, everything)
    now = {page: page.read_text("utf-8") for page in PAGES}
    measured_now = {page: with_figures(said, text, everything) for page, said in now.items()}
    wrong = [page for page in PAGES if measured_now[page] != now[page]]
    for page in wrong if args.write else ():
        page.write_text(measured_now[page], "utf-8")
    print(text, end="")
    for page in wrong:
        print(
            f"{page.relative_to(ROOT)}: {'written' if args.write else 'says otherwise'}",
            file=sys.stderr,
        )
    return int(bool(wrong) and not args.write)


def together(counted: Mapping[str, Tally]) -> Tally:
    everything = Tally()
    for one in counted.values():
        everything.add(one)
    return everything


def with_figures(page: str, text: str, everything: Tally) -> str:
    """A page's text with the table and the number of certain rulings as they are now.

    A page that has lost its table, or that says that none was wrong while one is, stops the program.
    """
    page, tables = TABLE.subn(lambda _: text, page)
    page, sentences = SENTENCE.subn(str(certain(everything)), page)
    if tables != 1 or (sentences and everything.wrong):
        raise SystemExit("a page has no table, or it says that none was wrong: write it by hand")
    return page


def certain(counted: Tally) -> int:
    """How many rulings are called certain."""
    return sum(said >= CERTAIN_PROBABILITY for said in counted.said)


def printed(counted: Mapping[str, Tally], everything: Tally) -> str:
    """The table as tools/evaluate/accuracy.py prints it."""
    console = Console(width=WIDE, record=True, file=io.StringIO())
    console.print(table({**counted, "all": everything}), *calls(everything), sep="\n")
    lines = console.export_text().splitlines()
    return "\n".join(line.rstrip() for line in lines if line.strip()) + "\n"


def plots(counted: Mapping[str, Tally]) -> None:
    """Draw both plots."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4.4), dpi=110, layout="constrained")
    stated = np.linspace(0.05, 0.995, 60)
    reach = [_sigmas(share) for share in stated]
    for name, one in counted.items():
        z, errors = np.abs(one.z), np.sort(one.errors_mm)
        left.plot(stated, [np.mean(z <= limit) for limit in reach], label=name.replace("_", " "))
        right.plot(errors, np.linspace(0, 1, len(errors)), label=name.replace("_", " "))
    left.plot([0, 1], [0, 1], "k:", linewidth=1, label="honest")
    left.set(
        xlabel="stated probability",
        ylabel="counted share",
        title="Is the stated σ honest? (above the line: cautious)",
    )
    right.set(
        xlabel="error of a distance, mm",
        ylabel="share of distances",
        xlim=(0, 1.5),
        title="How large are errors?",
    )
    for axes in (left, right):
        axes.legend(frameon=False)
        axes.grid(alpha=0.25)
    figure.savefig(PICTURES / "accuracy.png")


def _sigmas(share: float) -> float:
    """How many σ to either side hold a share of Gauss's curve."""
    from scipy.stats import norm

    return float(norm.ppf((1 + share) / 2))


if __name__ == "__main__":
    sys.exit(main())
