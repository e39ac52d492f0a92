"""The printed marker cards: their sizes, patterns and places on a board.

A card is a black square with a white border one module wide, surrounded by a strip for words. It is
cut along its edge.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from overruler.errors import BadInput

LABEL_STRIP_MM = 4.0
"""Width of the strip for words round the white border, in mm."""

MARKER_PLACES = (
    ("lower left", 0.0, 0.0),
    ("lower right", 1.0, 0.0),
    ("upper right", 1.0, 1.0),
    ("upper left", 0.0, 1.0),
    ("lower middle", 0.5, 0.0),
    ("upper middle", 0.5, 1.0),
    ("right middle", 1.0, 0.5),
    ("left middle", 0.0, 0.5),
)
"""The places of markers 0, 1, 2…: a name, and shares of the board's width and height.

A card's edge is flush with the board's.
"""

Loop = list[tuple[float, float]]
"""The corners of a closed outline."""
Cell = tuple[int, int]


@dataclass(frozen=True, slots=True)
class CardSet:
    """A set of marker cards, numbered from 0."""

    count: int = 8
    size_mm: float = 60.0
    """Side of the black square."""
    dictionary: str = "DICT_4X4_50"

    @property
    def modules(self) -> int:
        """The modules along a side of the black square, its black frame included."""
        return len(marker_pattern(self.dictionary, 0))

    @property
    def border_mm(self) -> float:
        """The width from the card's edge to the black square: words, then one white module."""
        return LABEL_STRIP_MM + self.size_mm / self.modules

    @property
    def card_mm(self) -> float:
        return self.size_mm + 2 * self.border_mm

    def place_name(self, marker: int) -> str:
        """Return the name of a marker's place."""
        return MARKER_PLACES[marker][0] if marker < len(MARKER_PLACES) else "anywhere"

    def corners_mm(self, width_mm: float, height_mm: float) -> dict[int, list[list[float]]]:
        """Return markers' corners (4, 3), printed top left first, clockwise; may raise `BadInput`."""
        cards_per_side = 3 if self.count > 4 else 2
        if min(width_mm, height_mm) < self.card_mm * cards_per_side:
            board = f"a board of {width_mm:g} × {height_mm:g} mm"
            cards = f"cards of {self.card_mm:.1f} mm"
            raise BadInput(f"{board} has no room for {cards}: take smaller ones")
        low = self.border_mm
        corners: dict[int, list[list[float]]] = {}
        for marker, (_, x_share, y_share) in enumerate(MARKER_PLACES[: self.count]):
            x = x_share * (width_mm - self.card_mm) + low
            y = y_share * (height_mm - self.card_mm) + low
            left = round(x, 4)
            right = round(x + self.size_mm, 4)
            bottom = round(y, 4)
            top = round(y + self.size_mm, 4)
            loop = [(left, top), (right, top), (right, bottom), (left, bottom)]
            corners[marker] = [[x, y, 0.0] for x, y in loop]
        return corners


def marker_pattern(dictionary: str, marker: int) -> list[list[bool]]:
    """Return a marker's modules by rows from the top, true for black, with the black frame."""
    import cv2

    family = cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, dictionary))
    count = len(family.bytesList)
    if not 0 <= marker < count:
        raise BadInput(
            f"{dictionary} has the markers 0 to {count - 1}, not {marker}: "
            "ask for fewer (--count), or name a larger one (--dictionary)"
        )
    image = cv2.aruco.generateImageMarker(family, marker, family.markerSize + 2)
    return [[bool(value == 0) for value in row] for row in image]


def trace_outlines(cells: list[list[bool]]) -> list[Loop]:
    """Return the edges of the black cells as closed loops of (column, row), black on the right.

    Filled as one path by the even-odd rule, they show no seams: no two filled shapes share an edge.
    """
    following = dict[Cell, list[Cell]]()
    for start, end in _black_edges(cells):
        following.setdefault(start, []).append(end)
    loops: list[Loop] = []
    while following:
        loop = [next(iter(following))]
        while loop[-1] in following:
            ends = following[loop[-1]]
            loop.append(ends.pop())
            if not ends:
                del following[loop[-2]]
        loops.append(_drop_collinear([(float(x), float(y)) for x, y in loop[:-1]]))
    return loops


def _black_edges(cells: list[list[bool]]) -> Iterator[tuple[Cell, Cell]]:
    black = {(x, y) for y, row in enumerate(cells) for x, cell in enumerate(row) if cell}
    for x, y in sorted(black):
        if (x, y - 1) not in black:
            yield (x, y), (x + 1, y)
        if (x + 1, y) not in black:
            yield (x + 1, y), (x + 1, y + 1)
        if (x, y + 1) not in black:
            yield (x + 1, y + 1), (x, y + 1)
        if (x - 1, y) not in black:
            yield (x, y + 1), (x, y)


def _drop_collinear(loop: Loop) -> Loop:
    """Return only the corners at which the loop turns."""
    corners: Loop = []
    for before, corner, after in zip(loop[-1:] + loop[:-1], loop, loop[1:] + loop[:1], strict=True):
        if before[0] != after[0] and before[1] != after[1]:
            corners.append(corner)
    return corners
