"""What a photo is to show."""

from dataclasses import dataclass

import numpy as np

from synthetic.arrays import Rng
from synthetic.traced.light import STYLES

BOARDS_MM = {
    "legion": (1828.8, 914.4),
    "inches": (914.4, 914.4),
    "xwing": (914.4, 914.4),
    "ranks": (1219.2, 914.4),
    "regiments": (1219.2, 914.4),
    "riders": (1219.2, 914.4),
    "stands": (1219.2, 914.4),
    "bikes": (1219.2, 914.4),
    "hexagons": (1219.2, 914.4),
    "heroes": (914.4, 914.4),
}
"""Boards by game. The last seven are drawn only where asked for: loose rectangles and ovals, regiments
in rank and file, riders on ovals, stands with several figures, bikes on bases with round ends, bases
with six corners, and heroes on round bases of 35 mm and more."""
MATS = {
    "legion": ("desert", "grass", "city", "craters", "snow", "drygrass", "none"),
    "inches": ("grass", "drygrass", "city", "deck", "hex", "snow", "desert", "none", "craters"),
    "xwing": ("space", "space", "deck", "none"),
    "ranks": ("grass", "drygrass", "desert", "snow", "city", "deck", "none"),
    "regiments": ("grass", "drygrass", "desert", "snow", "city", "none"),
    "riders": ("grass", "drygrass", "desert", "snow", "city", "deck", "none"),
    "stands": ("grass", "grass", "drygrass", "desert", "snow", "city", "none"),
    "bikes": ("grass", "drygrass", "desert", "snow", "city", "deck", "none"),
    "hexagons": ("grass", "drygrass", "desert", "snow", "city", "deck", "none"),
    "heroes": ("city", "city", "deck", "none"),
}
DICTIONARIES = ("DICT_4X4_50",) * 6 + ("DICT_5X5_100", "DICT_5X5_50", "DICT_6X6_250", "DICT_6X6_50")
LOW_TILTS_DEG = (5.0, 60.0)
"""Tilts of cameras over tables of stands."""
EASE = ("easy", "normal", "normal", "hard")


@dataclass(frozen=True, slots=True)
class Spec:
    """What a photo is to show; all else comes from its seed."""

    seed: int
    kind: str
    """The camera: `phone`, `hd` or `4k`."""
    game: str
    mat: str
    light: str
    tilt_deg: float
    layout: str
    """Of the markers: `known` places or `free`."""
    markers: int
    dictionary: str
    marker_mm: float
    terrain: int
    props: int
    rulers: int
    crowd: float
    """1: a usual number of pieces."""
    size_mm: tuple[float, float]
    armies: tuple[str, str] | None = None
    """The two players' armies; without them the seed chooses."""
    table: str | None = None
    """The table's top: `oak`, `felt` and so on; without it the seed chooses."""
    hand: bool = False
    """Whether somebody reaches in."""
    lookalikes: int = 0
    """Number of round things that are no bases."""
    heights: int = 0
    """Of the terrain, this many hills and roofs that pieces stand on come first."""
    unmanned: bool = False
    """Whether bases carry no figures."""
    lines: tuple[str, float] | None = None
    """Of a grid printed on the mat: its form and how wide a cell is, in mm."""

    @property
    def difficulty(self) -> str:
        """Easy, normal or hard: by how many things stand in the way."""
        against = [
            self.tilt_deg > 15,
            self.light in ("lamp", "low", "glare"),
            self.layout == "free",
            "4X4" not in self.dictionary,
            self.mat in ("city", "deck", "space"),
        ]
        return EASE[min(sum(against), 3)]


def draw_spec(seed: int, kind: str | None = None, game: str | None = None) -> Spec:
    """A spec out of a seed; `kind` and `game` may be set."""
    rng = np.random.default_rng([seed, 1])
    game = game or str(rng.choice(["legion", "inches", "inches", "xwing"]))
    layout = "free" if rng.random() < 0.2 else "known"
    return Spec(
        seed=seed,
        kind=kind or str(rng.choice(["phone", "hd", "4k"])),
        game=game,
        mat=str(rng.choice(MATS[game])),
        light=str(rng.choice(list(STYLES))),
        tilt_deg=_low_tilt_deg(rng) if game == "stands" else _tilt_deg(rng),
        layout=layout,
        markers=int(rng.integers(4, 8)) if layout == "free" else int(rng.choice([4, 6, 8])),
        dictionary=str(rng.choice(DICTIONARIES)),
        marker_mm=float(rng.choice([50.0, 60.0, 60.0, 80.0])),
        terrain=0 if game == "xwing" else int(rng.integers(0, 7)),
        props=int(rng.integers(0, 5)),
        rulers=int(rng.random() < 0.6),
        crowd=float(rng.uniform(0.5, 1.2)),
        size_mm=(1219.2, 1219.2) if game == "inches" and rng.random() < 0.3 else BOARDS_MM[game],
    )


def _tilt_deg(rng: Rng) -> float:
    """Half of the cameras look almost straight down, a few from the side."""
    ranges = [(0, 12), (6, 25), (20, 40)]
    low, high = ranges[rng.choice(3, p=[0.5, 0.35, 0.15])]
    return round(float(rng.uniform(low, high)), 3)


def _low_tilt_deg(rng: Rng) -> float:
    """Stands of small scales are photographed from beside the table."""
    return round(float(rng.uniform(*LOW_TILTS_DEG)), 3)
