"""Render photos of miniature games, each with the exact truth beside it.

    uv run --group render python tools/synthetic/render_samples.py --count 6 --kind hd --seed 100 --out out/renders

writes r0100.jpg and r0100.json, and so on: the same seed gives the same photo. `--sample all` renders the photos of
sample_images/ again, each with its board file.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from synthetic.traced.samples import SAMPLES
from synthetic.traced.spec import BOARDS_MM, Spec, draw_spec

KINDS = ("phone", "hd", "4k")


def main(argv: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(argv)
    if find_spec("embreex") is None:
        print(
            "rendering needs embreex: `uv run --group render python tools/synthetic/render_samples.py …`",
            file=sys.stderr,
        )
        return 2
    from synthetic.traced.photo import photograph

    out: Path = options.out or Path("sample_images" if options.sample else "out/renders")
    out.mkdir(parents=True, exist_ok=True)
    if options.crowded:
        from synthetic.traced.crowded_tables import draw_table

        for seed in range(options.seed, options.seed + options.count):
            draw_table(seed, out, options.only, options.lookalikes, options.close)
        return 0
    for name, spec in _jobs(options).items():
        files = photograph(name, spec, options.scale)
        for ending in (".json", ".toml", ".jpg") if options.sample else (".json", ".jpg"):
            write(out / f"{name}{ending}", files[ending])
    return 0


def _parser() -> argparse.ArgumentParser:
    example, _, rest = (__doc__ or "").partition("\n\nwrites ")  # help opens with the example
    parser = argparse.ArgumentParser(
        usage=example.split("    ")[-1],
        description=f"Writes {rest}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--count", type=_natural, default=1, help="how many photos")
    parser.add_argument(
        "--seed", type=_natural, default=1, help="the first photo's seed; the others follow"
    )
    parser.add_argument("--kind", choices=KINDS, help="the camera; without it the seed chooses")
    parser.add_argument(
        "--only", choices=sorted(BOARDS_MM), help="the game; without it the seed chooses"
    )
    parser.add_argument(
        "--sample", choices=["all", *SAMPLES], help="a photo of sample_images/ in place of seeds"
    )
    crowded = "small photos of crowded tables with anything on them, to teach networks"
    parser.add_argument("--crowded", action="store_true", help=crowded)
    lookalikes = "with --crowded: how many round things that are no bases lie about"
    parser.add_argument("--lookalikes", type=_natural, default=0, help=lookalikes)
    close = "with --crowded: only what lies near bases is traced, and the rest is grey"
    parser.add_argument("--close", action="store_true", help=close)
    parser.add_argument("--hand", action="store_true", help="somebody reaches in")
    parser.add_argument("--unmanned", action="store_true", help="bases carry no figures")
    parser.add_argument(
        "--tilt-deg", type=float, help="of the camera from straight above; else the seed chooses"
    )
    parser.add_argument(
        "--board-mm",
        type=float,
        nargs=2,
        metavar=("WIDTH", "HEIGHT"),
        help="of the board; else the game chooses",
    )
    parser.add_argument(
        "--scale",
        type=_share,
        default=1.0,
        help="below 1: fewer pixels and rays, blown up; quicker",
    )
    parser.add_argument("--out", type=Path, help="folder for the photos (out/renders)")
    return parser


def _natural(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 up")
    return int(text)


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = 0
    if not 0.1 <= share <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0.1 to 1")
    return share


def _jobs(options: argparse.Namespace) -> dict[str, Spec]:
    """Names and specs."""
    if options.sample:
        return {name: spec for name, spec in SAMPLES.items() if options.sample in ("all", name)}
    seeds = range(options.seed, options.seed + options.count)
    chosen: dict[str, Any] = {"hand": options.hand, "unmanned": options.unmanned}
    if options.tilt_deg is not None:
        chosen["tilt_deg"] = options.tilt_deg
    if options.board_mm:
        chosen["size_mm"] = tuple(options.board_mm)
    return {
        f"r{seed:04d}": replace(draw_spec(seed, options.kind, options.only), **chosen)
        for seed in seeds
    }


def write(path: Path, data: bytes) -> None:
    """Whole or not at all."""
    partial = path.with_name(path.name + ".part")
    partial.write_bytes(data)
    os.replace(partial, path)


if __name__ == "__main__":
    sys.exit(main())
