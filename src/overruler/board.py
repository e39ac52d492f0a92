"""The board: its size, and the markers whose places or sizes are known."""

import json
import math
from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from overruler.errors import BadInput
from overruler.geometry.pose import Array
from overruler.reading import Node
from overruler.writing import write_atomically

SCHEMA = "overruler/board/1"
DICTIONARIES = (
    *(
        f"DICT_{modules}X{modules}_{count}"
        for modules in (4, 5, 6, 7)
        for count in (50, 100, 250, 1000)
    ),
    *(f"DICT_APRILTAG_{family}" for family in ("16h5", "25h9", "36h10", "36h11")),
    "DICT_ARUCO_ORIGINAL",
    "DICT_ARUCO_MIP_36h12",
)
"""Every family of markers there is, by OpenCV's names."""
MAX_PRINT_SCALE_ERROR = 0.1
"""A print is off by less than this share: a page made to fit another paper loses six hundredths."""


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
    sides_mm: tuple[float, float] | None = None
    """Across and along the print, where it was measured; `marker_mm` is their mean."""
    scale_share: float | None = None
    """1 σ of the markers' size, or of the layout's, as a share; None where nobody measured it."""
    covariance: Array | None = None
    """(3 M, 3 M) over each marker's middle, x and y in mm, and its turn in radians, ascending by id; None where it was
    laid out by hand."""

    @property
    def layout_known(self) -> bool:
        """Whether the markers' places are known."""
        return self.corners_mm is not None

    def without_markers(self, markers: Collection[int]) -> "Board":
        """The board but for some of its markers: they lie elsewhere."""
        if self.corners_mm is None or not set(markers) & set(self.corners_mm):
            return self
        numbers = sorted(self.corners_mm)
        kept = [k for k, number in enumerate(numbers) if number not in markers]
        rows = (
            np.concatenate([np.arange(3 * k, 3 * k + 3) for k in kept])
            if kept
            else np.zeros(0, int)
        )
        covariance = self.covariance[np.ix_(rows, rows)] if self.covariance is not None else None
        return replace(
            self,
            corners_mm={numbers[k]: self.corners_mm[numbers[k]] for k in kept},
            covariance=covariance,
        )

    @classmethod
    def free(cls, marker_mm: float, dictionary: str = "auto") -> "Board":
        """Markers of one size lying anywhere, flat on the table."""
        return cls("markers anywhere", marker_mm, dictionary)

    @classmethod
    def load(cls, path: str | Path, as_meant: bool = False) -> "Board":
        """Read a board file (TOML), its markers as printed, or as they were meant; `BadInput` names what is wrong."""
        node = Node.of_toml(Path(path))
        node["schema"].choice((SCHEMA,))
        markers = node["markers"]
        size = markers["size_mm"].positive()
        corners = markers.get("corners_mm", _read_corners, None)
        if corners is not None:
            for marker, points in corners.items():
                _check_square(points, size, markers["corners_mm"][str(marker)])
        board = cls(
            name=node.get("name", Node.text, Path(path).stem),
            marker_mm=size,
            dictionary=markers.get("dictionary", _read_dictionary, "auto"),
            width_mm=node["width_mm"].positive(),
            height_mm=node["height_mm"].positive(),
            corners_mm=corners,
            scale_share=markers.get("scale_share", Node.positive, None),
            covariance=markers.get(
                "covariance", partial(_read_covariance, count=len(corners or ())), None
            ),
        )
        printed = markers.get("print", PrintMeasurement.from_node, None)
        return board if printed is None or as_meant else board.as_printed(printed)

    def as_printed(self, printed: "PrintMeasurement") -> "Board":
        """The board as its markers came out of the printer, for one that says how they were meant."""
        across, along = printed.scale_factors
        sides = (self.marker_mm * across, self.marker_mm * along)
        corners = self.corners_mm
        if corners is not None:
            corners = {
                marker: self._scaled_corners(points, printed) for marker, points in corners.items()
            }
        # where the layout is known, its scale is that of the board and not that of the print
        scale = printed.scale_share if corners is None else self.scale_share
        return replace(
            self, marker_mm=sum(sides) / 2, sides_mm=sides, corners_mm=corners, scale_share=scale
        )

    def _scaled_corners(self, corners: Array, printed: "PrintMeasurement") -> Array:
        """One marker's corners (4, 3) as printed; its middle stays, or where its card touches the board's edge."""
        middle = corners.mean(0)
        held = middle.copy()
        if printed.flush and self.width_mm is not None and self.height_mm is not None:
            for axis, size in enumerate((self.width_mm, self.height_mm)):
                held[axis] = _edge_contact_mm(float(middle[axis]), size)
        right, up = corners[1] - corners[0], corners[0] - corners[3]
        right, up = right / np.linalg.norm(right), up / np.linalg.norm(up)
        across, along = printed.scale_factors
        grow = (across - 1) * np.outer(right, right) + (along - 1) * np.outer(up, up)
        return np.asarray(corners + (corners - held) @ grow.T)

    def to_toml(self) -> str:
        """The board file's text; every number is written in full."""
        lines = [
            f'schema = "{SCHEMA}"',
            f"name = {json.dumps(self.name, ensure_ascii=False)}",
            f"width_mm = {self.width_mm}",
            f"height_mm = {self.height_mm}",
            "",
            "[markers]",
            f'dictionary = "{self.dictionary}"',
            f"size_mm = {self.marker_mm}",
        ]
        if self.scale_share is not None:
            lines.append(f"scale_share = {self.scale_share}  # 1 σ of the scale of it all")
        if self.covariance is not None:
            rows = ",\n".join(f"  {json.dumps(row)}" for row in self.covariance.tolist())
            lines.append(
                f"covariance = [  # of each marker's x, y and turn in mm and radians, ascending by id\n{rows},\n]"
            )
        if self.corners_mm is not None:
            lines += ["", "[markers.corners_mm]  # the printed top left first, then clockwise"]
            lines += [
                f"{marker} = {json.dumps(self.corners_mm[marker].tolist())}"
                for marker in sorted(self.corners_mm)
            ]
        return "\n".join(lines) + "\n"

    def save(self, path: str | Path) -> None:
        """Write the board file, whole or not at all; `BadInput` where the board's size is not known."""
        if self.width_mm is None or self.height_mm is None:
            raise BadInput(f"{path}: a board file needs the board's width and height")
        write_atomically(path, self.to_toml())


@dataclass(frozen=True, slots=True)
class PrintMeasurement:
    """A sheet of markers as it was measured, with a steel rule, after printing."""

    printed_mm: float
    """The length that should have been printed."""
    across_mm: float
    along_mm: float
    """What it measures across and along the page."""
    doubt_mm: float
    """1 σ of either."""
    flush: bool = False
    """Whether cards were cut out and laid with their edges flush with the board's, a middle one half way along."""

    @property
    def scale_factors(self) -> tuple[float, float]:
        """How many times larger than meant everything was printed, across and along."""
        return self.across_mm / self.printed_mm, self.along_mm / self.printed_mm

    @property
    def scale_share(self) -> float:
        """1 σ of the mean of the two shares."""
        return self.doubt_mm / self.printed_mm / math.sqrt(2)

    @classmethod
    def from_node(cls, node: Node) -> "PrintMeasurement":
        """The table `[markers.print]` of a board file."""
        printed, across, along, doubt = (
            node[key].positive() for key in ("printed_mm", "across_mm", "along_mm", "doubt_mm")
        )
        for key, length in (("across_mm", across), ("along_mm", along)):
            if abs(length / printed - 1) > MAX_PRINT_SCALE_ERROR:
                node[key].fail(f"{length:g} mm is not what {printed:g} mm can have been printed as")
        return cls(printed, across, along, doubt, node.get("flush", Node.boolean, False))

    def to_toml(self) -> str:
        return (
            "[markers.print]  # measured with a steel rule; the sizes above are those that were meant\n"
            f"printed_mm = {self.printed_mm}\n"
            f"across_mm = {self.across_mm}\n"
            f"along_mm = {self.along_mm}\n"
            f"doubt_mm = {self.doubt_mm}\n"
            f"flush = {json.dumps(self.flush)}\n"
        )


def _edge_contact_mm(middle_mm: float, size_mm: float) -> float:
    """Where a card that lies at an edge touches it; its middle where it lies half way along."""
    third = round(2 * middle_mm / size_mm)
    return {0: 0.0, 2: size_mm}.get(third, middle_mm)


def _read_dictionary(node: Node) -> str:
    return node.choice(("auto", *DICTIONARIES))


def _read_corners(node: Node) -> dict[int, Array]:
    found: dict[int, Array] = {}
    for key in node.keys():  # noqa: SIM118 - a Node is no dict
        if not key.isdecimal():
            node[key].fail("a marker's id is a whole number")
        found[int(key)] = np.array(node[key].matrix(4, 3))
    if not found:
        node.fail("has no markers; leave the table out for markers that lie anywhere")
    return found


def _read_covariance(node: Node, count: int) -> Array:
    covariance = (
        np.array(node.matrix(3 * count, 3 * count)) if count else node.fail("goes with corners_mm")
    )
    if (
        np.abs(covariance - covariance.T).max() > 1e-9
        or np.linalg.eigvalsh(covariance).min() < -1e-9
    ):
        node.fail(
            "is not symmetric and positive semi-definite: make it anew (overruler calibrate board)"
        )
    return covariance


def _check_square(points: Array, size_mm: float, node: Node) -> None:
    sides = np.linalg.norm(points - np.roll(points, -1, axis=0), axis=1)
    if np.abs(sides - size_mm).max() > 0.02 * size_mm:
        node.fail(
            f"its sides are {', '.join(f'{side:.1f}' for side in sides)} mm, not size_mm = {size_mm:g}"
        )
    (ax, ay), (bx, by) = (points[1] - points[0])[:2], (points[3] - points[0])[:2]
    if ax * by - ay * bx > 0:
        node.fail(
            "its corners run counter-clockwise; the order is the printed top left first, then clockwise"
        )
