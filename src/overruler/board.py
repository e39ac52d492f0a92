"""The board: its size, and the markers whose positions or sizes are known."""

import json
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from pathlib import Path

import numpy as np

from overruler.errors import BadInput
from overruler.geometry.pose import Array
from overruler.marker_card import PrintMeasurement, read_raised
from overruler.reading import MAX_LENGTH_MM, Node, read_coordinate, read_length
from overruler.reading.fields import check_fields, file_path
from overruler.writing import write_atomically

SCHEMA = "overruler/board/1"
DICTIONARIES = (
    *(f"DICT_{bits}X{bits}_{size}" for bits in (4, 5, 6, 7) for size in (50, 100, 250, 1000)),
    *(f"DICT_APRILTAG_{family}" for family in ("16h5", "25h9", "36h10", "36h11")),
    "DICT_ARUCO_MIP_36h12",
    "DICT_ARUCO_ORIGINAL",
)
"""Every marker dictionary, by OpenCV's name."""
AUTO_DICTIONARY = "auto"
"""Stands for a dictionary that detection finds."""
MAX_SIDE_ERROR = 0.02
"""Largest difference between a marker's side and `size_mm` in a board file, as a share of `size_mm`."""
MARKER_KEYS = (
    *("dictionary", "size_mm", "corners_mm", "raised_mm"),
    *("scale_share", "scale_by_print", "covariance", "print"),
)
"""The keys of a board file's `markers`."""
MIN_BOARD_MM = 150.0
"""Least longer side of a board, in mm: half a sheet of paper. A smaller one is in another unit."""
MAX_ID_DIGITS = 9
"""Most digits of a marker's id; dictionaries have at most 1000 markers."""
MIN_APART_SHARE = 0.9
"""Least distance between two markers' centres, in sides: nearer, their squares overlap."""
COVARIANCE_TOLERANCE = 1e-9
"""Largest asymmetry, and largest negative eigenvalue, of a covariance in a board file."""


@dataclass(frozen=True, slots=True, eq=False)
class Board:
    """What is known of the table before the photo is taken. M is the number of markers."""

    name: str
    marker_mm: float
    """Side of a marker's black square."""
    dictionary: str = AUTO_DICTIONARY
    """OpenCV's name of the dictionary, such as `DICT_4X4_50`, or `auto`."""
    width_mm: float | None = None
    height_mm: float | None = None
    corners_mm: dict[int, Array] | None = field(default=None, repr=False)
    """Corners (4, 3) of each marker by its id: the printed top left first, then clockwise.

    None where the markers lie anywhere."""
    sides_mm: tuple[float, float] | None = None
    """Measured sides of the black square across and along the page; `marker_mm` is their mean."""
    scale_share: float | None = None
    """1 σ of the scale of the markers, or of the layout, as a share; None where it was not measured."""
    scale_by_print: bool = False
    """Whether photos gave the places, by the size of a print that nobody measured."""
    covariance: Array | None = field(default=None, repr=False)
    """(3 M, 3 M) over x and y of each marker's centre in mm and its rotation in radians, by ascending id.

    None where the markers were laid out by hand."""
    raised_mm: float = 0.0
    """How far markers that lie anywhere lie over the mat; those of `corners_mm` say it by their z."""

    def __post_init__(self) -> None:
        check_fields(self, "Board", {"marker_mm": read_length, "dictionary": read_dictionary})
        for key in ("width_mm", "height_mm", "scale_share"):
            if getattr(self, key) is not None:
                check_fields(self, "Board", {key: Node.positive})

    @property
    def layout_known(self) -> bool:
        """Whether the positions of the markers are known."""
        return self.corners_mm is not None

    @property
    def markers_z_mm(self) -> float:
        """How far its markers lie over the mat, in the mean."""
        if self.corners_mm is None:
            return self.raised_mm
        return float(np.mean([points[:, 2] for points in self.corners_mm.values()]))

    def without_markers(self, markers: Collection[int]) -> "Board":
        """The board without some of its markers, which lie elsewhere."""
        if self.corners_mm is None or not set(markers) & set(self.corners_mm):
            return self
        numbers = sorted(self.corners_mm)
        kept = [k for k, number in enumerate(numbers) if number not in markers]
        covariance = self.covariance
        if covariance is not None:
            rows = np.array([3 * k + axis for k in kept for axis in range(3)], int)
            covariance = covariance[np.ix_(rows, rows)]
        corners = {numbers[k]: self.corners_mm[numbers[k]] for k in kept}
        return replace(self, corners_mm=corners, covariance=covariance)

    @classmethod
    def free(cls, marker_mm: float, dictionary: str = AUTO_DICTIONARY) -> "Board":
        """A board whose markers, all of one size, lie flat anywhere on the table."""
        return cls("markers anywhere", marker_mm, dictionary)

    @classmethod
    def load(cls, path: str | Path, as_meant: bool = False) -> "Board":
        """Read a board file (TOML).

        The markers have their printed size and height, or all is nominal if `as_meant`.
        Raises `BadInput` with the path of the value that is wrong.
        """
        path = file_path(path, "Board.load")
        node = Node.of_toml(path)
        node["schema"].choice((SCHEMA,))
        node.reject_misspelt_keys(("schema", "name", "width_mm", "height_mm", "markers"))
        markers = node["markers"]
        markers.reject_misspelt_keys(MARKER_KEYS)
        size = read_length(markers["size_mm"])
        corners = markers.get("corners_mm", _read_corners, None)
        width_mm, height_mm = (read_length(node[key]) for key in ("width_mm", "height_mm"))
        _check_unit(node, width_mm, height_mm)
        if corners is not None:
            for marker, points in corners.items():
                _check_square(points, size, markers["corners_mm"][str(marker)])
            _check_places(corners, size, (width_mm, height_mm), markers["corners_mm"])
        read_covariance = partial(_read_covariance, count=len(corners or ()))
        board = cls(
            name=node.get("name", Node.text, path.stem),
            marker_mm=size,
            dictionary=markers.get("dictionary", read_dictionary, AUTO_DICTIONARY),
            width_mm=width_mm,
            height_mm=height_mm,
            corners_mm=corners,
            scale_share=markers.get("scale_share", Node.positive, None),
            scale_by_print=markers.get("scale_by_print", Node.boolean, False),
            covariance=markers.get("covariance", read_covariance, None),
        )
        printed = markers.get("print", PrintMeasurement.from_node, None)
        raised_mm = markers.get("raised_mm", read_raised, 0.0)
        if as_meant:
            return board
        return (board if printed is None else board.as_printed(printed)).raised_by(raised_mm)

    def raised_by(self, raised_mm: float) -> "Board":
        """The board with its markers higher over the mat by so much, as on thick cards."""
        if self.corners_mm is None:
            return replace(self, raised_mm=self.raised_mm + raised_mm)
        up = np.array([0.0, 0.0, raised_mm])
        corners = {marker: points + up for marker, points in self.corners_mm.items()}
        return replace(self, corners_mm=corners)

    def as_printed(self, printed: PrintMeasurement) -> "Board":
        """The board with its markers as printed, given the board with its markers as meant."""
        across, along = printed.scale_factors
        sides = (self.marker_mm * across, self.marker_mm * along)
        corners = self.corners_mm
        scale: float | None = printed.scale_share
        if corners is not None:
            # The scale of a known layout is the board's, not the print's.
            scale = self.scale_share
            corners = {
                marker: self._scale_corners(points, printed) for marker, points in corners.items()
            }
        return replace(
            self, marker_mm=sum(sides) / 2, sides_mm=sides, corners_mm=corners, scale_share=scale
        )

    def _scale_corners(self, corners: Array, printed: PrintMeasurement) -> Array:
        """Scale a marker's corners (4, 3) to the print.

        The fixed point is the marker's centre, or the point where its card touches the board's edge.
        """
        center = corners.mean(0)
        fixed = center.copy()
        if printed.flush and self.width_mm is not None and self.height_mm is not None:
            for axis, size in enumerate((self.width_mm, self.height_mm)):
                fixed[axis] = _edge_contact_mm(float(center[axis]), size)
        right, up = corners[1] - corners[0], corners[0] - corners[3]
        right, up = right / np.linalg.norm(right), up / np.linalg.norm(up)
        across, along = printed.scale_factors
        growth = (across - 1) * np.outer(right, right) + (along - 1) * np.outer(up, up)
        return np.asarray(corners + (corners - fixed) @ growth.T)

    def to_toml(self) -> str:
        """The text of the board file, every number at full precision."""
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
        if self.scale_by_print:
            lines.append("scale_by_print = true  # of a print that nobody measured")
        if self.raised_mm:
            lines.append(f"raised_mm = {self.raised_mm}  # over the mat")
        if self.covariance is not None:
            rows = ",\n".join(f"  {json.dumps(row)}" for row in self.covariance.tolist())
            about = "of each marker's x, y and turn in mm and radians, ascending by id"
            lines.append(f"covariance = [  # {about}\n{rows},\n]")
        if self.corners_mm is not None:
            lines += ["", "[markers.corners_mm]  # the printed top left first, then clockwise"]
            for marker in sorted(self.corners_mm):
                lines.append(f"{marker} = {json.dumps(self.corners_mm[marker].tolist())}")
        return "\n".join(lines) + "\n"

    def save(self, path: str | Path) -> None:
        """Write the board file, whole or not at all.

        Raises `BadInput` where the size of the board is not known.
        """
        if self.width_mm is None or self.height_mm is None:
            raise BadInput(f"{path}: a board file needs the board's width and height")
        write_atomically(path, self.to_toml())


def read_dictionary(node: Node) -> str:
    """Read the name of a marker dictionary in any case, or `auto`."""
    names = (AUTO_DICTIONARY, *DICTIONARIES)
    known = {name.casefold(): name for name in names}.get(node.text().casefold())
    return known or node.choice(names)


def _edge_contact_mm(center_mm: float, size_mm: float) -> float:
    """Where a card at an edge of the board touches it; the card's centre where it lies half way."""
    third = round(2 * center_mm / size_mm)
    return {0: 0.0, 2: size_mm}.get(third, center_mm)


def _read_corners(node: Node) -> dict[int, Array]:
    corners: dict[int, Array] = {}
    for key in node.keys():  # noqa: SIM118 - a Node is no dict
        if not (key.isdecimal() and len(key) <= MAX_ID_DIGITS):
            node[key].fail("a marker's id is a whole number")
        corners[int(key)] = np.array(node[key].matrix(4, 3, read_coordinate))
    if not corners:
        node.fail("has no markers; leave the table out for markers that lie anywhere")
    return corners


def _read_covariance(node: Node, count: int) -> Array:
    if not count:
        node.fail("goes with corners_mm")
    covariance = np.array(node.matrix(3 * count, 3 * count))
    if np.abs(covariance).max() > MAX_LENGTH_MM**2:
        node.fail(f"holds more than {MAX_LENGTH_MM**2:g} mm²")
    asymmetry = np.abs(covariance - covariance.T).max()
    smallest_eigenvalue = np.linalg.eigvalsh(covariance).min()
    if asymmetry > COVARIANCE_TOLERANCE or smallest_eigenvalue < -COVARIANCE_TOLERANCE:
        node.fail(
            "is not symmetric and positive semi-definite: make it anew (overruler calibrate board)"
        )
    return covariance


def _check_square(points: Array, size_mm: float, node: Node) -> None:
    sides = np.linalg.norm(points - np.roll(points, -1, axis=0), axis=1)
    if np.abs(sides - size_mm).max() > MAX_SIDE_ERROR * size_mm:
        lengths = ", ".join(f"{side:.1f}" for side in sides)
        node.fail(f"its sides are {lengths} mm, not size_mm = {size_mm:g}")
    (ax, ay), (bx, by) = (points[1] - points[0])[:2], (points[3] - points[0])[:2]
    if ax * by - ay * bx > 0:
        text = "its corners run counter-clockwise; the order is the printed top left first, then clockwise"
        node.fail(text)


def _check_unit(node: Node, width_mm: float, height_mm: float) -> None:
    """Refuse a board that is far too small, as in another unit."""
    if max(width_mm, height_mm) < MIN_BOARD_MM:
        size = f"{width_mm:g} × {height_mm:g} mm"
        text = f"a board of {size} is no table: are these centimetres or inches? give mm"
        node["width_mm"].fail(text)


def _check_places(
    corners: dict[int, Array], size_mm: float, board_mm: tuple[float, float], node: Node
) -> None:
    """Refuse markers that lie on one another, or far off the board."""
    centers = {number: points.mean(0) for number, points in corners.items()}
    for one, other in combinations(sorted(centers), 2):
        if np.linalg.norm(centers[one] - centers[other]) < MIN_APART_SHARE * size_mm:
            node[str(other)].fail(f"lies on marker {one}: measure the places of both again")
    for number, center in centers.items():
        beyond_mm = np.maximum(-center[:2], center[:2] - np.array(board_mm)).max()
        if beyond_mm > max(board_mm):
            problem = f"lies {beyond_mm:.0f} mm off the board"
            node[str(number)].fail(f"{problem}: are all lengths in mm, from one corner?")
