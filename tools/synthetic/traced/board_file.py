"""A table's board file, as its owner would have it."""

import json

from synthetic.traced.table import Table


def board_toml(table: Table, name: str) -> str:
    """The markers' size and, where they lie at known places, their corners."""
    spec = table.spec
    lines = [
        'schema = "overruler/board/1"',
        f'name = "{name}"',
        f"width_mm = {spec.size_mm[0]}",
        f"height_mm = {spec.size_mm[1]}",
        "",
        "[markers]",
        f'dictionary = "{spec.dictionary}"',
        f"size_mm = {spec.marker_mm:g}",
    ]
    if spec.layout == "known":
        corners = {m.id: m.corners_mm.round(3).tolist() for m in table.markers}
        lines += ["", "[markers.corners_mm]  # the printed top left first, then clockwise"]
        lines += [f"{marker} = {json.dumps(corners[marker])}" for marker in sorted(corners)]
    return "\n".join(lines) + "\n"
