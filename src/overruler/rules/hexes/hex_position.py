"""Which hex of the scene's grid a piece stands in, and how sure that is."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from overruler.geometry.hex_grid import Hex, HexGrid, hex_distance
from overruler.geometry.shapes import Point
from overruler.reading import Node
from overruler.rules.sampling import answer_probabilities, draw_displacements, max_relative_shift_mm
from overruler.scene import Piece, Scene
from overruler.units import CONTACT_TOLERANCE_MM


@dataclass(frozen=True)
class HexPosition:
    """The hex that holds the centre of a piece's base."""

    hexes: HexGrid
    piece: Piece
    index: int
    """The piece's index in the scene."""
    max_shift_mm: float
    """The largest displacement of the piece from where it was measured; 0 for an exact place."""

    @property
    def center_mm(self) -> Point:
        """The centre of the base, as measured."""
        return self.piece.x_mm, self.piece.y_mm

    @property
    def hex(self) -> Hex:
        """The hex as measured."""
        return self.piece.hex or self.hexes.hex_at(self.center_mm)

    @cached_property
    def neighbour_distances_mm(self) -> Mapping[Hex, float]:
        """The distance of the centre of the base from each hex around its own."""
        return self.hexes.neighbour_distances_mm(self.center_mm)

    @property
    def is_given(self) -> bool:
        """Whether the scene names the hex, rather than a place on the table."""
        return self.piece.hex is not None and self.max_shift_mm == 0

    @property
    def is_sure(self) -> bool:
        """Whether no displacement takes it out of that hex."""
        return self.is_given or self.max_shift_mm < min(self.neighbour_distances_mm.values())


def find_hex_position(scene: Scene, index: int) -> HexPosition:
    """The hex of a piece; `BadInput` without a grid, and for an exact place on a border."""
    if scene.grid is None:
        Node(None, "scene", "grid").fail(
            "is missing; ranges are counted on a grid of hexes, which a photo shows or a scene file gives"
        )
    max_shift_mm = max_relative_shift_mm(scene, None, index)
    found = HexPosition(scene.grid.hexes, scene.pieces[index], index, max_shift_mm)
    neighbours = found.neighbour_distances_mm
    nearest = min(neighbours, key=neighbours.__getitem__)
    on_border = neighbours[nearest] <= CONTACT_TOLERANCE_MM
    if on_border and max_shift_mm == 0 and not found.is_given:
        Node(None, "scene", f"pieces[{index}]").fail(
            f"stands on the border between hex {list(found.hex)} and hex {list(nearest)}; "
            "give the one that is meant as its hex"
        )
    return found


def hex_count_probabilities(scene: Scene, a: HexPosition, b: HexPosition) -> dict[int, float]:
    """The probability of each number of hexes from one to the other, 0 within one hex.

    Where both hexes are sure, only their distance, with probability 1.
    """
    if a.is_sure and b.is_sure:
        return {hex_distance(a.hex, b.hex): 1.0}
    import numpy as np

    unsure = [place for place in (a, b) if not place.is_sure]
    shifts = draw_displacements(scene, [place.index for place in unsure])
    hexes = {place.index: np.array([place.hex]) for place in (a, b)}
    for k, place in enumerate(unsure):
        hexes[place.index] = place.hexes.hexes_at(shifts[:, k] + place.center_mm)
    q, r = (hexes[b.index] - hexes[a.index]).T
    counts = np.abs([q, r, q + r]).max(0)
    return {int(count): share for count, share in answer_probabilities(counts).items()}
