"""What was counted, by what is special about photos and pieces."""

import math
from collections.abc import Iterator, Mapping
from itertools import pairwise

from rich.table import Table

from evaluate.counting.tally import LEAST_RIM, Pairing, Tally, Truth, right_size, share
from overruler.scene import Scene

Counts = dict[str, dict[str, Tally]]
"""By tag, then by who found: `overruler` first."""
OURS = "overruler"
TILTS_DEG = (0, 10, 20, 30, 90)
RIMS = (LEAST_RIM, 0.5, 0.75, 1.01)


def photo_tags(truth: Truth) -> list[str]:
    """What is special about a photo: its mat, its light, its tilt, its camera."""
    camera = truth["camera"]
    tilt = math.floor(camera["tilt_deg"])
    span = next((low, high) for low, high in pairwise(TILTS_DEG) if tilt < high)
    mat, light = truth["board"]["mat"], truth["tags"][3]
    return [
        f"mat {mat}",
        f"light {light}",
        f"tilt {span[0]}-{span[1]}°",
        f"camera {camera['kind']}",
    ]


def piece_tags(piece: Truth) -> Iterator[str]:
    """What is special about a piece: its shape, and how much of its rim is in sight."""
    yield f"shape {piece['shape']['type']}"
    for low, high in pairwise(RIMS):
        if low <= piece["visible_rim"] < high:
            yield f"rim {low:.0%}-{min(high, 1):.0%}"


def add_pieces(counts: Counts, scene: Scene, pairing: Pairing) -> None:
    """Our findings by what is special about each piece; a false finding has no such tag."""
    found = {i: scene.pieces[j] for i, j in pairing.pairs}
    for i, piece in enumerate(pairing.there):
        if piece["visible_rim"] < LEAST_RIM:
            continue
        hit = found.get(i)
        one = Tally(
            wanted=1, found=hit is not None, matched=hit is not None, sized=right_size(hit, piece)
        )
        for tag in piece_tags(piece):
            add(counts, tag, OURS, one)


def add(counts: Counts, tag: str, who: str, counted: Tally) -> None:
    counts.setdefault(tag, {}).setdefault(who, Tally()).add(counted)


def table(counts: Counts, who: list[str]) -> Table:
    """A row a tag: found, precision and size of each finder; ours also with the distances' error and honesty."""
    result = Table("", "pieces", *[f"{name}\nfound  right  size" for name in who], "mm50", "in95")
    for tag, by in counts.items():
        ours = by.get(OURS, Tally())
        cells = [_cell(by, name) for name in who]
        mm = "-" if math.isnan(ours.median_mm) else f"{ours.median_mm:.2f}"
        result.add_row(tag, str(ours.wanted), *cells, mm, share(ours.within))
    return result


def _cell(by: Mapping[str, Tally], name: str) -> str:
    if name not in by:
        return "-"
    return "  ".join(share(value) for value in (by[name].recall, by[name].precision, by[name].size))
