"""Which hex of the scene's grid a piece stands in, and how sure that is."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from overruler.geometry.hex_grid import Hex, HexGrid, hex_distance
from overruler.reading import Node
from overruler.rules.sampling import answer_probabilities, draw_displacements, max_relative_shift_mm
from overruler.scene import Piece, Scene
from overruler.units import CONTACT_TOLERANCE_MM


@dataclass(frozen=True)
class HexPosition:
    """The hex that holds the middle of a piece's base."""

    hexes: HexGrid
    piece: Piece
    index: int
    """The piece's place in the scene."""
    max_shift_mm: float
    """The piece is never displaced farther than this from where it was measured; 0 where its place is exact."""

    @property
    def hex(self) -> Hex:
        """The hex as measured."""
        return self.piece.hex or self.hexes.hex_at((self.piece.x_mm, self.piece.y_mm))

    @cached_property
    def neighbour_distances_mm(self) -> Mapping[Hex, float]:
        """How far the middle of the base lies from each hex around its own."""
        return self.hexes.neighbour_distances_mm((self.piece.x_mm, self.piece.y_mm))

    @property
    def is_given(self) -> bool:
        """Whether the scene says which hex it is, rather than where on the table."""
        return self.piece.hex is not None and self.max_shift_mm == 0

    @property
    def is_sure(self) -> bool:
        """Whether it is in that hex beyond doubt."""
        return self.is_given or self.max_shift_mm < min(self.neighbour_distances_mm.values())


def find_hex_position(scene: Scene, index: int) -> HexPosition:
    """Where a piece stands; `BadInput` without a grid, and for an exact place on the border between two hexes."""
    if scene.grid is None:
        Node(None, "scene", "grid").fail("is missing; ranges are counted on a grid of hexes")
    found = HexPosition(
        scene.grid.hexes, scene.pieces[index], index, max_relative_shift_mm(scene, None, index)
    )
    other, border_mm = min(found.neighbour_distances_mm.items(), key=lambda item: item[1])
    if found.max_shift_mm == 0 and not found.is_given and border_mm <= CONTACT_TOLERANCE_MM:
        on = f"stands on the border between hex {list(found.hex)} and hex {list(other)}"
        Node(None, "scene", f"pieces[{index}]").fail(f"{on}; give the one that is meant as its hex")
    return found


def hex_count_probabilities(scene: Scene, a: HexPosition, b: HexPosition) -> dict[int, float]:
    """The probability of each number of hexes from one to the other, 0 within one hex; a sure one is alone."""
    if a.is_sure and b.is_sure:
        return {hex_distance(a.hex, b.hex): 1.0}
    import numpy as np

    doubtful = [place for place in (a, b) if not place.is_sure]
    shifts = draw_displacements(scene, [place.index for place in doubtful])
    places = {place.index: np.array([place.hex]) for place in (a, b)}
    for k, place in enumerate(doubtful):
        places[place.index] = place.hexes.hexes_at(
            shifts[:, k] + (place.piece.x_mm, place.piece.y_mm)
        )
    q, r = (places[b.index] - places[a.index]).T
    return {
        int(count): share
        for count, share in answer_probabilities(np.abs([q, r, q + r]).max(0)).items()
    }
