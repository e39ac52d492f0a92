"""Twelve more mistakes of people and apps, for the tool that holds certainty against strained photos.

    strains.py STRAIN.py [options of STRAIN.py] FOLDER

STRAIN.py is that tool: it says what happens to a photo of FOLDER, or to what its user tells of it,
and counts the rulings that are certain and false. Its own strains are replaced by these.
"""

import importlib.util
import math
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
"""An array of floats."""
Case = Any
"""A photo, and what its user tells of it, as the tool has it."""

BULGE_SHARE = 0.25
"""Width of the bulge of a portrait filter, as a share of the picture's."""


class Strains:
    """The strains, by means of the tool's own ways to bend pictures and board files."""

    def __init__(self, tool: ModuleType) -> None:
        self.tool = tool

    def stretch_mat(self, case: Case, x: float, y: float) -> None:
        """The mat, markers and all, is longer than told."""
        self.tool.lay(case, lambda _, corners: corners / (x, y))

    def stretch_layout(self, case: Case, x: float, y: float) -> None:
        """The markers were laid farther apart than told."""
        self.tool.lay(
            case, lambda _, corners: corners - corners.mean(0) * (1 - 1 / np.array([x, y]))
        )

    def enlarge_card(self, case: Case, mm: float) -> None:
        """One card is larger than told."""
        number, size = case.seen_marker()["id"], case.truth["markers"]["size_mm"]

        def place(item: Any, corners: Array) -> Array:
            share = float(1 - mm / size) if item["id"] == number else 1.0
            return np.asarray(corners.mean(0) + (corners - corners.mean(0)) * share)

        self.tool.lay(case, place)

    def enlarge_cards(self, case: Case, share: float) -> None:
        """All cards are larger than told, on their right places."""
        self.tool.lay(case, lambda _, c: c.mean(0) + (c - c.mean(0)) / share)
        markers = case.told["markers"]
        markers["size_mm"] = round(markers["size_mm"] / share, 4)

    def exchange_cards(self, case: Case) -> None:
        """Two cards lie on each other's place."""
        if case.told["markers"]["layout"] != "known":
            raise self.tool.DoesNotApply
        first, second = case.told["markers"]["items"][:2]
        first["corners_mm"], second["corners_mm"] = second["corners_mm"], first["corners_mm"]

    def shear_layout(self, case: Case, share: float) -> None:
        """The markers were laid out of square."""
        self.tool.lay(case, lambda _, c: c + np.array([c.mean(0)[1] * share, 0]))

    def turn_half(self, case: Case, degrees: float) -> None:
        """Every second card was laid by a frame that was turned."""
        a = math.radians(degrees)
        turn = np.array([[math.cos(a), -math.sin(a)], [math.sin(a), math.cos(a)]])
        self.tool.lay(case, lambda item, c: c @ turn.T if item["id"] % 2 else c)

    def count_from_other_corner(self, case: Case) -> None:
        """The board file counts from the opposite corner."""
        board = case.truth["board"]
        size = np.array([board["width_mm"], board["height_mm"]])
        self.tool.lay(case, lambda _, corners: size - corners)

    def straighten_keystone(self, case: Case) -> None:
        """An app widened the picture's upper side."""
        w, h = case.size
        ends = np.array([[0, 0], [w, 0], [w, h], [0, h]], np.float32)
        to = np.array([[w * 0.06, h * 0.02], [w * 0.94, h * 0.02], [w, h], [0, h]], np.float32)
        case.warp(self.tool.homography(cv2.getPerspectiveTransform(ends, to)))
        case.exif = None

    def bulge(self, case: Case, px: float) -> None:
        """A portrait filter magnifies the middle."""
        middle, width = case.middle, BULGE_SHARE * case.size[0]

        def source(q: Array) -> Array:
            from_middle = (q - middle) / width
            inside = np.exp(-np.sum(from_middle**2, 1) / 2)
            return np.asarray(q - from_middle * inside[:, None] * px * case.scale)

        case.warp(source)

    def take_other_lens(self, case: Case) -> None:
        """The lens file is another camera's."""
        self.tool.lens_file(case, focal=1.06)
        case.told["camera"]["distortion"] = [0.08, -0.12, 0.001, -0.001, 0.02]

    def all(self) -> list[Any]:
        """Each strain as the tool wants it."""
        named = [
            ("mat_x_100.5", "the mat is 0.5 % longer in x", self.stretch_mat, (1.005, 1)),
            ("mat_y_100.5", "the mat is 0.5 % longer in y", self.stretch_mat, (1, 1.005)),
            ("laid_y_100.8", "markers laid 0.8 % apart in y", self.stretch_layout, (1, 1.008)),
            ("card_1", "one card is 1 mm too large", self.enlarge_card, (1.0,)),
            ("cards_101.2", "cards printed at 101.2 %", self.enlarge_cards, (1.012,)),
            ("exchanged", "two cards were exchanged", self.exchange_cards, ()),
            ("sheared_0.5", "laid out of square by 0.5 %", self.shear_layout, (0.005,)),
            ("turned_half", "every second card turned", self.turn_half, (0.5,)),
            ("other_corner", "counted from another corner", self.count_from_other_corner, ()),
            ("keystone", "an app straightened it", self.straighten_keystone, ()),
            ("bulge_6", "a filter bulges the middle by 6 px", self.bulge, (6.0,)),
            ("other_lens", "the lens file is another's", self.take_other_lens, ()),
        ]
        return [
            self.tool.Strain(name, story, lambda case, do=do, args=args: do(case, *args))
            for name, story, do, args in named
        ]


def load_tool(path: Path) -> ModuleType:
    """The tool as a module."""
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        sys.exit(f"{path}: is no Python file")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    return tool


def main() -> None:
    """Run the tool with these strains."""
    if len(sys.argv) < 2 or not Path(sys.argv[1]).is_file():
        sys.exit((__doc__ or "").strip())
    tool = load_tool(Path(sys.argv.pop(1)))
    vars(tool)["STRAINS"] = Strains(tool).all()
    tool.main()


if __name__ == "__main__":
    main()
