"""The printed marker cards: their sizes, their patterns, and where they lie on a board.

A card is a black square with a white border one module wide, and around it a strip for words; it is cut along its edge.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from overruler.errors import BadInput

LABEL_STRIP_MM = 4.0
"""Width of the strip for words round the white border."""

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
"""Where marker 0, 1, 2… lies, as shares of the board's width and height; a card's edge is flush with the board's."""

Loop = list[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class CardSet:
    """A set of marker cards, numbered from 0."""

    count: int = 8
    size_mm: float = 60.0
    """Side of the black square."""
    dictionary: str = "DICT_4X4_50"

    @property
    def modules(self) -> int:
        """Modules along a side of the black square, its black frame included."""
        return len(marker_pattern(self.dictionary, 0))

    @property
    def border_mm(self) -> float:
        """From the card's edge to the black square: the words, then one white module."""
        return LABEL_STRIP_MM + self.size_mm / self.modules

    @property
    def card_mm(self) -> float:
        return self.size_mm + 2 * self.border_mm

    def place_name(self, marker: int) -> str:
        """Where a marker belongs, in words."""
        return MARKER_PLACES[marker][0] if marker < len(MARKER_PLACES) else "anywhere"

    def corners_mm(self, width_mm: float, height_mm: float) -> dict[int, list[list[float]]]:
        """Each placed marker's corners (4, 3) on a board: the printed top left first, clockwise."""
        if min(width_mm, height_mm) < self.card_mm * (3 if self.count > 4 else 2):
            board = f"a board of {width_mm:g} × {height_mm:g} mm"
            raise BadInput(
                f"{board} has no room for cards of {self.card_mm:.1f} mm: take smaller ones"
            )
        low = self.border_mm
        corners: dict[int, list[list[float]]] = {}
        for marker, (_, x_share, y_share) in enumerate(MARKER_PLACES[: self.count]):
            x = x_share * (width_mm - self.card_mm) + low
            y = y_share * (height_mm - self.card_mm) + low
            x, y, right, top = (
                round(value, 4) for value in (x, y, x + self.size_mm, y + self.size_mm)
            )
            corners[marker] = [[x, top, 0.0], [right, top, 0.0], [right, y, 0.0], [x, y, 0.0]]
        return corners


def marker_pattern(dictionary: str, marker: int) -> list[list[bool]]:
    """A marker's modules, row by row from the top: true is black; the black frame is included."""
    import cv2

    family = cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, dictionary))
    if not 0 <= marker < len(family.bytesList):
        raise BadInput(
            f"{dictionary} has the markers 0 to {len(family.bytesList) - 1}, not {marker}"
        )
    side = family.markerSize + 2
    return [
        [bool(value == 0) for value in row]
        for row in cv2.aruco.generateImageMarker(family, marker, side)
    ]


def trace_outlines(cells: list[list[bool]]) -> list[Loop]:
    """The edges of the black cells as closed loops of (column, row) corners, black on the right hand.

    Filled as one path by the even-odd rule they show no seams: no two filled shapes share an edge.
    """
    following = dict[tuple[int, int], list[tuple[int, int]]]()
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


def _black_edges(cells: list[list[bool]]) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
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
    around = zip(loop[-1:] + loop[:-1], loop, loop[1:] + loop[:1], strict=True)
    return [
        here for before, here, after in around if before[0] != after[0] and before[1] != after[1]
    ]
