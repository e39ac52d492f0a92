"""Areas as a GeoJSON file (RFC 7946), in millimetres of the board instead of degrees of the earth."""

import argparse
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from overruler.errors import BadInput
from overruler.scene import Scene
from overruler.verdict import Rings, Shade, Verdict
from overruler.writing import check_writable, endings_rule, write_atomically

ENDINGS = (".geojson", ".json")
"""The endings of file names that areas are written to."""
FRAME = {
    "unit": "mm",
    "origin": "the board's lower left corner",
    "x": "right",
    "y": "up on the table, away from the viewer",
}
"""What the coordinates mean. RFC 7946 knows degrees alone, so a foreign member tells it."""


def add_geojson_argument(parser: "argparse.ArgumentParser | argparse._ArgumentGroup") -> None:
    """Add `--geojson`, for a command that answers questions."""
    about = "write the areas that are asked for (.geojson), in mm of the board"
    parser.add_argument("--geojson", type=Path, metavar="OUT.geojson", help=about)


def check_geojson_path(path: Path | None) -> None:
    """Raise `BadInput` where no areas can be written to a path."""
    if path is None:
        return
    if path.suffix.lower() not in ENDINGS:
        raise BadInput(f"--geojson: {path}: {endings_rule(ENDINGS)}")
    check_writable(path)


def geojson_text(scene: Scene, verdicts: Iterable[Verdict]) -> str:
    """The areas of some answers as GeoJSON; `BadInput` where none of them is an area."""
    features = [feature for verdict in verdicts for feature in _features(verdict)]
    if not features:
        raise BadInput("--geojson: no answer is an area; ask for one: area, or hexes")
    frame = FRAME | {"board_mm": [scene.board.width_mm, scene.board.height_mm]}
    known = {"type": "FeatureCollection", "frame": frame, "features": features}
    return json.dumps(known, allow_nan=False) + "\n"


def write_geojson(path: Path, scene: Scene, verdicts: Iterable[Verdict]) -> None:
    """Write the areas of some answers, whole or not at all."""
    write_atomically(path, geojson_text(scene, verdicts))


def _features(verdict: Verdict) -> Iterator[dict[str, Any]]:
    """The features of an answer: its ground as measured, then both sides of its soft edge."""
    told = {key: verdict.answer[key] for key in ("pieces", "whole") if key in verdict.answer}
    for shade in verdict.shades:
        for border, polygons in _borders(shade):
            properties = {"name": shade.name, "border": border, **told}
            if verdict.call and border == "as measured":
                properties["call"] = verdict.call
            yield {
                "type": "Feature",
                "geometry": {"type": "MultiPolygon", "coordinates": [*map(_closed, polygons)]},
                "properties": properties | {"question": dict(verdict.question)},
            }


def _borders(shade: Shade) -> Iterator[tuple[str, Sequence[Rings]]]:
    yield "as measured", shade.polygons_mm
    if shade.sure_mm or shade.possible_mm:
        yield "surely in", shade.sure_mm
        yield "possibly in", shade.possible_mm


def _closed(rings: Rings) -> Rings:
    """A polygon whose rings end where they begin, as GeoJSON has them."""
    return [[*ring, ring[0]] for ring in rings]
