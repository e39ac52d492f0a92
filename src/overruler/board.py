"""The board: its size, and the markers whose places or sizes are known."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from overruler.geometry.pose import Array
from overruler.reading import Node

SCHEMA = "overruler/board/1"
DICTIONARIES = (
    *(f"DICT_{modules}X{modules}_{count}" for modules in (4, 5, 6, 7) for count in (50, 100, 250, 1000)),
    *(f"DICT_APRILTAG_{family}" for family in ("16h5", "25h9", "36h10", "36h11")),
    "DICT_ARUCO_ORIGINAL",
    "DICT_ARUCO_MIP_36h12",
)
"""Every family of markers there is, by OpenCV's names."""


@dataclass(frozen=True, slots=True, eq=False)
class Board:
    """What is known of the table before the photo is seen."""

    name: str
    marker_mm: float
    """Side of the markers' black square."""
    dictionary: str = "auto"
    """OpenCV's name, `DICT_4X4_50` for one; `auto` finds it."""
    width_mm: float | None = None
    height_mm: float | None = None
    corners_mm: dict[int, Array] | None = None
    """Each marker's corners (4, 3), the printed top left first, then clockwise; None where they lie anywhere."""

    @property
    def known(self) -> bool:
        """Whether the markers' places are known."""
        return self.corners_mm is not None

    @classmethod
    def free(cls, marker_mm: float, dictionary: str = "auto") -> "Board":
        """Markers of one size lying anywhere, flat on the table."""
        return cls("markers anywhere", marker_mm, dictionary)

    @classmethod
    def load(cls, path: str | Path) -> "Board":
        """Read a board file (TOML); `BadInput` names what is wrong in it."""
        node = Node.of_toml(Path(path))
        node["schema"].choice((SCHEMA,))
        markers = node["markers"]
        size = markers["size_mm"].positive()
        corners = markers.get("corners_mm", _corners, None)
        if corners is not None:
            for marker, points in corners.items():
                _check_square(points, size, markers["corners_mm"][str(marker)])
        return cls(
            name=node.get("name", Node.text, Path(path).stem),
            marker_mm=size,
            dictionary=markers.get("dictionary", _dictionary, "auto"),
            width_mm=node["width_mm"].positive(),
            height_mm=node["height_mm"].positive(),
            corners_mm=corners,
        )


def _dictionary(node: Node) -> str:
    return node.choice(("auto", *DICTIONARIES))


def _corners(node: Node) -> dict[int, Array]:
    found: dict[int, Array] = {}
    for key in node.keys():  # noqa: SIM118 - a Node is no dict
        if not key.isdecimal():
            node[key].fail("a marker's id is a whole number")
        found[int(key)] = np.array(node[key].matrix(4, 3))
    if not found:
        node.fail("has no markers; leave the table out for markers that lie anywhere")
    return found


def _check_square(points: Array, size_mm: float, node: Node) -> None:
    sides = np.linalg.norm(points - np.roll(points, -1, axis=0), axis=1)
    if np.abs(sides - size_mm).max() > 0.02 * size_mm:
        node.fail(f"its sides are {', '.join(f'{side:.1f}' for side in sides)} mm, not size_mm = {size_mm:g}")
    (ax, ay), (bx, by) = (points[1] - points[0])[:2], (points[3] - points[0])[:2]
    if ax * by - ay * bx > 0:
        node.fail("its corners run counter-clockwise; the order is the printed top left first, then clockwise")
