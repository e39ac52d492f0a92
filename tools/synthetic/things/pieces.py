"""Pieces: a base whose lower edge is known to the micrometre, and what stands on it."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from synthetic.arrays import Array, Picture, Rng
from synthetic.develop import encode_srgb
from synthetic.mats import as_bytes
from synthetic.things.cards import any_card
from synthetic.things.materials import Material, Part, plain, printed
from synthetic.things.mesh import Mesh, about_z, blob, circle, limb, rounded, sheet, stack

RIMS = {
    "black": "#141416",
    "brown": "#4a2f1c",
    "white": "#e6e4de",
    "sand": "#b89a68",
    "green": "#3f6b2c",
    "grey": "#77787a",
    "goblin": "#4f9a2c",
    "team0": "#2a5ac0",
    "team1": "#d0a818",
    "team2": "#b02a2a",
    "clear": "#c8d2d6",
}
TOPPINGS = {
    "sand": ("#b59764", "#8a6c40", "sand"),
    "grass": ("#3e5c22", "#22380f", "blades"),
    "mud": ("#54381f", "#3a2513", "stone"),
    "rock": ("#6a6864", "#43423f", "stone"),
    "snow": ("#dfe4e8", "#b4c0cc", "cloud"),
    "dark": ("#26272a", "#1a1b1d", "fine"),
}
FLOCK = "flock"
"""A rim that is covered as the top is."""
PLATE_LIGHT = 0.02
"""Reflectance of a plate, where its card is cut away."""
PLATE_MM = 3.0
"""Height of a ship's plate."""
CORNER_MM = 1.5
"""Radius of a square plate's corners."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A base's outline; length lies along the heading."""

    type: str
    width_mm: float
    length_mm: float
    corner_mm: float = CORNER_MM
    """Radius of a rectangle's corners."""

    def outline(self, inset_mm: float = 0, points: int = 180) -> Array:
        """Its lower edge (N, 2) about the origin, or a ring that much inside at its ends."""
        if self.type == "rectangle":
            corner = max(self.corner_mm - inset_mm, min(0.4, self.corner_mm))
            return rounded(self.width_mm - 2 * inset_mm, self.length_mm - 2 * inset_mm, corner)
        if self.type == "stadium":
            return _round_ended(self.length_mm, self.width_mm, inset_mm, points)
        if self.type == "hexagon":
            return _hexagon(self.width_mm / 2 - inset_mm, points)
        ring = circle(self.length_mm / 2 - inset_mm, points)
        return np.asarray(ring * [1, self.width_mm / self.length_mm])

    def rim(self, count: int) -> tuple[Array, Array]:
        """Points (count, 2) of the lower edge, evenly along it, and outward normals (count, 2)."""
        ring = self.outline(points=1440)
        steps = np.linalg.norm(np.roll(ring, -1, 0) - ring, axis=1)
        along = np.concatenate([[0], np.cumsum(steps)])
        at = (np.arange(count) + 0.5) / count * along[-1]
        closed = np.vstack([ring, ring[:1]])
        points = np.stack([np.interp(at, along, closed[:, k]) for k in (0, 1)], 1)
        edge = (np.roll(ring, -1, 0) - ring)[np.searchsorted(along, at) - 1]
        return points, np.stack([edge[:, 1], -edge[:, 0]], 1) / np.linalg.norm(
            edge, axis=1, keepdims=True
        )

    def truth(self) -> dict[str, float | str]:
        if self.type == "circle":
            return {"type": "circle", "diameter_mm": self.length_mm}
        if self.type == "hexagon":
            return {"type": "hexagon", "width_mm": self.width_mm}
        size: dict[str, float | str] = {
            "type": self.type,
            "width_mm": self.width_mm,
            "length_mm": self.length_mm,
        }
        return size | ({"corner_radius_mm": self.corner_mm} if self.type == "rectangle" else {})


def disc(diameter_mm: float) -> Shape:
    return Shape("circle", diameter_mm, diameter_mm)


def plate(side_mm: float) -> Shape:
    return Shape("rectangle", side_mm, side_mm)


def block(length_mm: float, width_mm: float, corner_mm: float = CORNER_MM) -> Shape:
    """A rectangle; no corner is sharper than 0.2 mm."""
    return Shape("rectangle", width_mm, length_mm, max(corner_mm, 0.2))


def oval(length_mm: float, width_mm: float) -> Shape:
    return Shape("oval", width_mm, length_mm)


def stadium(length_mm: float, width_mm: float) -> Shape:
    """A base with half circles for ends."""
    return Shape("stadium", width_mm, length_mm)


def hexagon(width_mm: float) -> Shape:
    """A regular hexagon, so wide from side to side, a corner along the heading."""
    return Shape("hexagon", width_mm, width_mm * 2 / 3**0.5)


def _round_ended(length_mm: float, width_mm: float, inset_mm: float, points: int) -> Array:
    """A stadium's outline (points, 2): half of the points on each end."""
    turn = np.linspace(-np.pi / 2, np.pi / 2, points // 2)
    end = (width_mm / 2 - inset_mm) * np.stack([np.cos(turn), np.sin(turn)], 1)
    end += [(length_mm - width_mm) / 2, 0]
    return np.concatenate([end, -end])


def _hexagon(reach_mm: float, points: int) -> Array:
    """The outline (points, 2) of a hexagon whose sides are so far out; a point on each corner."""
    turn = np.pi / 3 * np.arange(7)
    corners = reach_mm * 2 / 3**0.5 * np.stack([np.cos(turn), np.sin(turn)], 1)
    along = np.arange(points) * 6 / points
    return np.stack([np.interp(along, np.arange(7), corners[:, k]) for k in (0, 1)], 1)


@dataclass(frozen=True, slots=True, eq=False)
class Stand:
    """A base's body."""

    style: str
    """`cone`, `lipped`, `flat` or (a ship's plate) `xw`."""
    rim: str
    topping: str
    height_mm: float
    top_mm: float
    """Length of the top."""
    parts: list[Part]
    """Its sides, its top, then what lies on it."""

    def moved(self, x_mm: float, y_mm: float, z_mm: float, turn_deg: float) -> "Stand":
        return replace(self, parts=[p.moved(x_mm, y_mm, z_mm, turn_deg) for p in self.parts])


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """A base with its figure, in the board frame."""

    id: str
    shape: Shape
    x_mm: float
    y_mm: float
    z_mm: float
    """Of the base's underside."""
    heading_deg: float
    stand: Stand
    figure: str
    figure_parts: list[Part]
    game: str
    player: str
    unit: str
    leader: bool

    @property
    def parts(self) -> list[Part]:
        return self.stand.parts + self.figure_parts

    def rim_mm(self, count: int) -> tuple[Array, Array]:
        """Points (count, 3) of the lower edge and outward normals (count, 3), in the board frame."""
        points, normals = self.shape.rim(count)
        turn = about_z(self.heading_deg)[:2, :2].T
        flat = points @ turn + [self.x_mm, self.y_mm]
        return np.column_stack([flat, np.full(count, self.z_mm)]), np.column_stack(
            [normals @ turn, np.zeros(count)]
        )

    def top_rim_mm(self, count: int) -> Array:
        """Points (count, 3) of the top's edge."""
        centre = np.array([self.x_mm, self.y_mm])
        flat = centre + (self.rim_mm(count)[0][:, :2] - centre) * (
            self.stand.top_mm / self.shape.length_mm
        )
        return np.column_stack([flat, np.full(count, self.z_mm + self.stand.height_mm)])


def profile(style: str, rng: Rng) -> tuple[list[tuple[float, float]], float]:
    """The rim's rings as (inset, height) from below, and the inset of the top's edge."""
    height = float(rng.uniform(3.3, 4.5))
    if style == "lipped":
        return [(0, 0), (0, height), (1.3, height), (1.7, height - 0.7)], 0.0
    if style == "flat":
        height = float(rng.uniform(2.0, 3.2))
        return [(0, 0), (0, height - 0.15), (0.15, height), (0.8, height)], 0.15
    taper = float(rng.uniform(1.25, 1.75))
    lip = float(rng.uniform(0.15, 0.9))
    return [(0, 0), (taper, height), (taper + lip, height)], taper


def stand(shape: Shape, style: str, rim: str, topping: str, rng: Rng) -> Stand:
    """A base about the origin."""
    if style == "xw":
        return Stand(
            style, rim, topping, PLATE_MM, shape.length_mm - 1, _plate_parts(shape, rim, rng)
        )
    rings, inset = profile(style, rng)
    sides = stack([_ring(shape, i, z) for i, z in rings], cap=False)
    gloss, rough = float(rng.uniform(0.1, 0.5)), float(rng.uniform(0.2, 0.5))
    paint = _ground(topping) if rim == FLOCK else plain(RIMS[rim], gloss=gloss, rough=rough)
    parts = [Part(sides, paint), Part(_top(shape, *rings[-1], rng), _ground(topping))]
    parts += _litter(shape, topping, rings[-1], rng)
    return Stand(style, rim, topping, max(z for _, z in rings), shape.length_mm - 2 * inset, parts)


def _ring(shape: Shape, inset_mm: float, z_mm: float) -> Array:
    flat = shape.outline(inset_mm)
    return np.column_stack([flat, np.full(len(flat), z_mm)])


def _ground(topping: str) -> Material:
    color, second, grain = TOPPINGS[topping]
    return plain(color, second, grain=grain, grain_mm=45, gloss=0.05)


def _top(shape: Shape, inset_mm: float, z_mm: float, rng: Rng) -> Mesh:
    """Bumpy ground inside the rim, up to 0.9 mm high."""
    ring, steps = shape.outline(inset_mm, 72), max(6, int(shape.length_mm / 6))
    flat = ring * (1 - np.arange(steps) / steps)[:, None, None]
    waves, phases = rng.normal(0, 0.9, (8, 2)), rng.uniform(0, 2 * np.pi, 8)
    bumps = 0.45 + 0.45 * np.sin(flat @ waves.T + phases).mean(-1)
    bumps *= np.minimum(1, np.arange(steps) / 2)[:, None]
    return stack(np.concatenate([flat, (z_mm + bumps)[..., None]], -1), smooth=True)


def _litter(shape: Shape, topping: str, top: tuple[float, float], rng: Rng) -> list[Part]:
    squash = 1.0 if shape.type == "hexagon" else shape.width_mm / shape.length_mm
    reach = (shape.width_mm if squash == 1 else shape.length_mm) / 2 - top[0] - 1.5
    places = [
        reach * np.sqrt(rng.random()) * np.array([1, squash]) * _unit(rng)
        for _ in range(int(reach / 2.5))
    ]
    if topping == "grass":
        return [
            Part(_blade(at, top[1], rng), plain("#5a7a2c", "#3a5a1c", gloss=0.05), solid=False)
            for at in places
            for _ in range(3)
        ]
    if topping in ("rock", "sand", "mud"):
        stone = plain("#7c7870", "#55524c", grain="stone")
        return [
            Part(
                blob(float(rng.uniform(0.5, 1.4)), 0.4, rng, 8).shifted([*at, top[1] + 0.4]),
                stone,
                solid=False,
            )
            for at in places
        ]
    return []


def _unit(rng: Rng) -> Array:
    angle = rng.uniform(0, 2 * np.pi)
    return np.array([np.cos(angle), np.sin(angle)])


def _blade(at: Array, z_mm: float, rng: Rng) -> Mesh:
    start = np.array([*(at + rng.normal(0, 0.8, 2)), z_mm])
    return limb(
        start, start + np.array([*rng.normal(0, 1.0, 2), rng.uniform(1.5, 3.5)]), 0.28, 0.05, 4
    )


def _plate_parts(shape: Shape, rim: str, rng: Rng) -> list[Part]:
    """A plate, a millimetre shorter above, with a printed card on it."""
    clear = rim == "clear"
    paint = (
        plain(RIMS[rim], gloss=0.8, rough=0.1, clear=0.7)
        if clear
        else plain(RIMS[rim], gloss=0.4, rough=0.25)
    )
    body = stack([_ring(shape, 0, 0), _ring(shape, 0.5, PLATE_MM)], facets=True)
    half = shape.length_mm / 2 - rng.uniform(1.2, 2.2)
    corners = np.array([[-half, -half], [half, -half], [half, half], [-half, half]])[
        [3, 0, 1, 2]
    ]  # its upper edge looks ahead (+x)
    card = sheet(np.column_stack([corners, np.full(4, PLATE_MM + 0.05)]))
    return [Part(body, paint, solid=not clear), Part(card, printed(_card_print(rng), gloss=0.3))]


def _card_print(rng: Rng) -> Picture:
    """A ship's card as it is printed, red green blue; its upper edge looks ahead."""
    card = any_card(rng)
    cover = card[..., 3:]
    light = card[..., 2::-1] * cover + PLATE_LIGHT * (1 - cover)
    return as_bytes(np.asarray(encode_srgb(light), np.float32))


def distance_mm(a: Piece, b: Piece) -> float:
    """Edge to edge in the plane: to 1e-4 mm for ovals, else exact; 0 where they touch."""
    from shapely.geometry import LineString, Point, Polygon

    cores: list[LineString | Point | Polygon] = []
    swell = 0.0
    for piece in (a, b):
        if piece.shape.type == "circle":
            cores.append(Point(piece.x_mm, piece.y_mm))
            swell += piece.shape.length_mm / 2
            continue
        core = _core(piece.shape) @ about_z(piece.heading_deg)[:2, :2].T
        core += [piece.x_mm, piece.y_mm]
        cores.append(LineString(core) if len(core) == 2 else Polygon(core))
        swell += _swell_mm(piece.shape)
    gap = float(cores[0].distance(cores[1])) - swell
    return 0.0 if gap < 1e-4 else gap


def _swell_mm(shape: Shape) -> float:
    """How far a base reaches beyond its core."""
    return {"rectangle": shape.corner_mm, "stadium": shape.width_mm / 2}.get(shape.type, 0.0)


def _core(shape: Shape) -> NDArray[np.float64]:
    if shape.type == "stadium":
        reach = (shape.length_mm - shape.width_mm) / 2
        return np.array([[-reach, 0], [reach, 0]])
    if shape.type == "rectangle":
        half = np.array([shape.length_mm, shape.width_mm]) / 2 - shape.corner_mm
        return np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * half
    return shape.outline(points=6 * 342)
