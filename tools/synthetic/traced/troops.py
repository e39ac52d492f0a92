"""What armies are made of, by game, and their colours."""

from dataclasses import dataclass

from synthetic.things.pieces import Shape, block, disc, hexagon, oval, plate, stadium


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of unit: its bases, its figures, and how many there are."""

    shape: Shape
    figure: str
    low: int
    high: int
    size: float = 1
    ranks: int = 0
    """The most ranks of a regiment, whose files number from `low` to `high`; 0 for loose order."""
    figures: int = 1
    """The most figures on a base; a lone one stands in its middle."""


TROOPS = {
    "legion": [
        *[Kind(disc(27), "inf", 4, 8)] * 6,
        Kind(disc(27), "hero", 1, 1),
        Kind(disc(50), "tank", 1, 1),
        Kind(disc(50), "cav", 1, 2),
        Kind(disc(70), "tank", 1, 1, 1.25),
        Kind(disc(100), "walker", 1, 1, 1.3),
        Kind(disc(120), "monster", 1, 1, 1.25),
    ],
    "inches": [
        Kind(disc(25), "inf", 4, 8, 0.95),
        Kind(disc(28.5), "inf", 4, 7),
        Kind(disc(30), "inf", 3, 6),
        Kind(disc(32), "inf", 4, 7, 1.1),
        Kind(disc(32), "inf", 3, 6, 1.1),
        Kind(disc(40), "hero", 1, 3, 1.2),
        Kind(disc(50), "cav", 1, 3, 0.9),
        Kind(disc(60), "monster", 1, 1, 0.85),
        Kind(disc(60), "walker", 1, 1),
        Kind(disc(80), "tank", 1, 1, 1.2),
        Kind(oval(60, 35), "cav", 2, 4),
        Kind(oval(75, 42), "cav", 1, 3, 1.15),
        Kind(oval(105, 70), "monster", 1, 1, 1.1),
    ],
    "heroes": [
        *[Kind(disc(35), "hero", 1, 3, 1.1)] * 4,
        *[Kind(disc(50), "hero", 1, 2, 1.4)] * 2,
        Kind(disc(65), "monster", 1, 1, 0.85),
        Kind(disc(80), "monster", 1, 1),
    ],
    "xwing": [
        *[Kind(plate(40), "ship", 1, 2)] * 5,
        Kind(plate(60), "ship", 1, 1),
        Kind(plate(80), "ship", 1, 1),
    ],
    "ranks": [
        Kind(block(25, 25), "inf", 4, 8, 0.9),
        Kind(block(20, 20), "inf", 4, 8, 0.8),
        Kind(block(50, 25), "cav", 3, 5, 0.85),
        Kind(block(40, 40), "hero", 1, 3, 1.2),
        Kind(block(50, 50, 0.3), "monster", 1, 2, 0.8),
        Kind(block(100, 50), "monster", 1, 1, 1.1),
        Kind(block(60, 40, 0.3), "cav", 1, 2),
        Kind(oval(60, 35), "cav", 2, 4),
        Kind(oval(75, 42), "cav", 1, 3, 1.15),
        Kind(oval(90, 52), "cav", 1, 2, 1.3),
        Kind(oval(105, 70), "monster", 1, 2, 1.1),
        Kind(oval(120, 92), "monster", 1, 1, 1.2),
        Kind(oval(170, 105), "tank", 1, 1, 1.8),
        Kind(disc(32), "inf", 3, 6, 1.1),
    ],
    "regiments": [
        *[Kind(block(20, 20, 0.4), "inf", 4, 6, 0.75, 4)] * 2,
        *[Kind(block(25, 25, 0.4), "inf", 3, 6, 0.9, 4)] * 2,
        Kind(block(30, 30, 0.4), "inf", 3, 5, 1.0, 3),
        Kind(block(40, 40, 0.4), "hero", 2, 4, 1.2, 2),
        Kind(block(50, 50, 0.4), "monster", 1, 3, 0.7, 1),
        *[Kind(block(50, 25, 0.4), "cav", 3, 5, 0.85, 2)] * 2,
        Kind(block(60, 30, 0.4), "cav", 3, 5, 0.95, 2),
        Kind(block(100, 50, 0.4), "monster", 1, 3, 1.0, 1),
        Kind(block(100, 60, 0.4), "monster", 1, 2, 1.1, 1),
        Kind(block(20, 40, 0.4), "inf", 3, 5, 0.5, 2),
        Kind(block(30, 40, 0.4), "inf", 3, 5, 0.5, 2),
    ],
    "stands": [
        *[Kind(block(50, 32, 0.4), "inf", 2, 6, 0.5, 0, 5)] * 3,
        *[Kind(block(32, 25, 0.4), "inf", 1, 5, 0.5, 0, 3)] * 2,
        Kind(block(64, 51, 0.4), "walker", 1, 3, 0.5, 0, 3),
        Kind(block(60, 40, 0.4), "inf", 2, 4, 0.6, 2, 6),
        Kind(block(75, 50, 0.4), "inf", 1, 3, 0.7, 0, 7),
        Kind(block(75, 50, 0.4), "tank", 1, 3, 0.6),
        Kind(block(40, 20, 0.4), "inf", 2, 6, 0.5, 2, 4),
        Kind(block(40, 30, 0.4), "cav", 2, 6, 0.45, 2, 3),
        Kind(block(30, 30, 0.4), "walker", 1, 4, 0.5, 0, 2),
        Kind(block(40, 40, 0.4), "inf", 1, 4, 0.7, 0, 4),
        *[Kind(block(50, 50, 0.4), "cav", 1, 3, 0.7, 0, 3)] * 2,
        *[Kind(block(100, 50, 0.4), "inf", 1, 3, 0.8, 0, 8)] * 2,
        *[Kind(block(100, 60, 0.4), "monster", 1, 2, 1.1, 0, 2)] * 2,
        Kind(block(60, 30, 0.4), "cav", 2, 4, 0.6, 2, 3),
    ],
    "bikes": [
        *[Kind(stadium(70, 25), "cav", 3, 6, 0.85)] * 3,
        *[Kind(disc(32), "inf", 4, 7, 1.1)] * 2,
        *[Kind(disc(25), "inf", 4, 8, 0.95)] * 2,
        Kind(disc(40), "hero", 1, 3, 1.2),
    ],
    "hexagons": [
        *[Kind(hexagon(30), "inf", 3, 6, 1.0)] * 3,
        Kind(hexagon(40), "hero", 1, 3, 1.2),
        *[Kind(disc(32), "inf", 3, 6, 1.1)] * 2,
        Kind(disc(25), "inf", 4, 8, 0.95),
    ],
    "riders": [
        *[Kind(oval(60, 35), "cav", 3, 6)] * 3,
        *[Kind(oval(75, 42), "cav", 2, 4, 1.15)] * 2,
        *[Kind(oval(90, 52), "cav", 1, 3, 1.3)] * 2,
        Kind(oval(105, 70), "monster", 1, 2, 1.1),
        Kind(oval(120, 92), "monster", 1, 1, 1.2),
        Kind(oval(170, 105), "tank", 1, 1, 1.8),
        Kind(disc(32), "inf", 3, 6, 1.1),
    ],
}
"""What a game's armies are made of; the first is the usual one."""
UNITS = {
    "legion": 10, "inches": 8, "xwing": 8, "ranks": 11, "regiments": 9, "riders": 11, "stands": 16,
    "bikes": 10, "hexagons": 10, "heroes": 8,
}  # fmt: skip
"""How many units stand on a usual table."""
HUES = {
    "rebels": (("#6b5b3e", "#4f6a3a", "#8a6d4a"), ("#2f4a38", "#7a6a50"), "#c2612c"),
    "empire": (("#26282c", "#33363b"), ("#e4e4e0", "#d7d8d4"), "#a02020"),
    "north": (("#29427a", "#3b5c9a"), ("#8c939c", "#6f7780"), "#d0b13c"),
    "south": (("#7a2626", "#963a2c"), ("#6a5846", "#8a7a5c"), "#e0d6c0"),
    "forest": (("#2e5a2c", "#4a7a3a"), ("#5c4a2e", "#7a5f38"), "#d8c33a"),
    "violet": (("#54307a", "#6d4a94"), ("#3a7a7a", "#4f9a94"), "#e0d4ee"),
}
"""Each army's cloth, armour and accent."""
SKINS = ("#c99a74", "#8a5a3c", "#e0b694", "#6a8a3c", "#5e7a8a")
METALS = ("#4a4c50", "#77797c", "#7a5a30")
SHIP_SHARE = 1.05
"""How long a ship is against its plate."""
RIM_CHOICE = (
    "black",
    "black",
    "brown",
    "brown",
    "sand",
    "white",
    "grey",
    "green",
    "goblin",
    "team0",
    "team1",
    "team2",
)
TOP_CHOICE = ("sand", "grass", "grass", "mud", "rock", "sand", "snow", "dark")
STEP_MM = {"legion": 152.4, "xwing": 100.0}
BANDS = {"legion": 5, "xwing": 3}
