"""What else lies on a gaming table: tokens, dice, cards, pencils, mugs."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from PIL import Image, ImageDraw

from synthetic.arrays import Array, Rng
from synthetic.things import loose
from synthetic.things.materials import Part, plain, printed
from synthetic.things.mesh import about_z, box, circle, fan, lathe, limb, prism, rectangle, sheet
from synthetic.things.rulers import inch

Spot = tuple[float, float, float]


@dataclass(frozen=True, slots=True, eq=False)
class Prop:
    """A thing that is no piece."""

    kind: str
    outline_mm: Array
    parts: list[Part]
    diameter_mm: float | None = None

    def moved(self, x_mm: float, y_mm: float, turn_deg: float) -> "Prop":
        outline = self.outline_mm @ about_z(turn_deg)[:2, :2].T + [x_mm, y_mm]
        return Prop(
            self.kind,
            outline,
            [p.moved(x_mm, y_mm, 0, turn_deg) for p in self.parts],
            self.diameter_mm,
        )


def token(rng: Rng) -> Prop:
    """A round of printed cardboard, the size of a base."""
    diameter = float(rng.choice([20.0, 25.0, 25.0, 30.0]))
    color = str(rng.choice(["#c22f2f", "#d8782a", "#2f9a5a", "#e0e0dc", "#2f5ac2", "#d8c02f"]))
    image = Image.new("RGB", (200, 200), color)
    draw = ImageDraw.Draw(image)
    draw.ellipse([8, 8, 192, 192], outline=(30, 30, 30), width=5)
    points = [
        (100 + r * np.sin(k * np.pi / 5), 100 - r * np.cos(k * np.pi / 5))
        for k, r in enumerate([62, 26] * 5)
    ]
    draw.polygon(points, fill=(25, 25, 28) if rng.random() < 0.6 else (245, 245, 240))
    ring = circle(diameter / 2, 72)
    top = fan(np.column_stack([ring, np.full(72, 2.0)]), ring / diameter + 0.5)
    edge = Part(lathe([(diameter / 2, 0), (diameter / 2, 2)], 72, cap=False), plain("#b8a88c"))
    return Prop("token", ring, [edge, Part(top, printed(np.asarray(image), gloss=0.3))], diameter)


def die(rng: Rng, most: int = 1) -> Prop:
    """One die or a few."""
    solids = loose.dice(rng, np.zeros(3), most)
    reach = max(float(np.abs(solid.points_mm[:, :2]).max()) for solid in solids)
    outline = rectangle(2 * reach, 2 * reach)
    return Prop("dice" if most > 1 else "die", outline, [solid.part(0.5) for solid in solids])


def dice(rng: Rng) -> Prop:
    """A handful of dice."""
    return die(rng, 7)


def card(rng: Rng) -> Prop:
    """A unit's card: a picture above, text below."""
    length, width = (88.0, 63.0) if rng.random() < 0.6 else (120.0, 80.0)
    shade = tuple(int(v) for v in rng.integers(60, 190, 3))
    image = Image.new("RGB", (int(width * 4), int(length * 4)), shade)
    draw = ImageDraw.Draw(image)
    w, h = image.size
    draw.rectangle([12, h // 2, w - 12, h - 12], fill=(236, 232, 220))
    for y in range(h // 2 + 18, h - 24, 14):
        draw.line([(24, y), (w - 24 - int(rng.integers(0, w // 3)), y)], fill=(70, 66, 60), width=4)
    for _ in range(6):
        x, y, r = rng.integers((30, 30, 10), (w - 30, h // 2 - 20, 45)).tolist()
        draw.ellipse(
            [x - r, y - r, x + r, y + r], fill=tuple(int(v) for v in rng.integers(30, 220, 3))
        )
    parts = [
        Part(box(width, length, 0.35), plain("#e6e2d8")),
        Part(
            sheet(np.column_stack([rectangle(width, length), np.full(4, 0.37)])),
            printed(np.asarray(image), gloss=0.5),
        ),
    ]
    return Prop("card", rectangle(width, length), parts)


def pencil(rng: Rng) -> Prop:
    """A hexagonal pencil."""
    length, wood = float(rng.uniform(120, 175)), plain("#d8b88a")
    turn = np.array([[0, 0, 1], [0, 1, 0], [-1, 0, 0]])
    body = lathe([(3.6, -length / 2), (3.6, length / 2 - 18)], 6).mapped(turn, (0, 0, 3.3))
    tip = lathe([(3.5, length / 2 - 18), (0.4, length / 2)], 16).mapped(turn, (0, 0, 3.3))
    rubber = lathe([(3.5, -length / 2 - 9), (3.5, -length / 2)], 16).mapped(turn, (0, 0, 3.3))
    color = str(rng.choice(["#d8a818", "#a81f2a", "#1f5a3a", "#2a2a2c"]))
    return Prop(
        "pencil",
        rectangle(length + 20, 8),
        [Part(body, plain(color, gloss=0.4)), Part(tip, wood), Part(rubber, plain("#c87a7a"))],
    )


def mug(rng: Rng) -> Prop:
    """A mug of coffee."""
    radius, height = float(rng.uniform(36, 43)), float(rng.uniform(80, 100))
    glaze = plain(
        str(rng.choice(["#b02a2a", "#e6e4de", "#2a4a7a", "#3a3a3c"])), gloss=0.7, rough=0.15
    )
    cup = lathe(
        [
            (radius * 0.9, 0),
            (radius, 8),
            (radius, height),
            (radius - 3.5, height),
            (radius - 4, height - 16),
        ],
        72,
    )
    coffee = lathe([(radius - 3.8, height - 14), (0.1, height - 13.9)], 48)
    bows = np.linspace(-1.3, 1.3, 9)
    arc = [np.array([radius + 20 * np.cos(a) - 6, 0, height * 0.5 + 24 * np.sin(a)]) for a in bows]
    handle = [Part(limb(a, b, 4.5, 4.5, 12), glaze) for a, b in pairwise(arc)]
    return Prop(
        "mug",
        circle(radius + 8, 24),
        [Part(cup, glaze), Part(coffee, plain("#2a1a10", gloss=0.8, rough=0.1)), *handle],
    )


def tape(rng: Rng) -> Prop:
    """A tape measure, a hand's breadth pulled out."""
    body = Part(
        prism(rectangle(58, 52), 0, 30, 0.94),
        plain(str(rng.choice(["#d8b01f", "#26282c", "#b02a2a"])), gloss=0.35),
    )
    label = Part(box(30, 24, 0.4).moved(0, 0, 30), plain("#d8d8d4"))
    strip = [
        Part(
            sheet(np.column_stack([rectangle(25.4, 16), np.full(4, 1.2)])).moved(
                41.7 + 25.4 * k, -10
            ),
            printed(inch("#d8c02f", "#1a1a1a", k + 1)),
        )
        for k in range(5)
    ]
    return Prop(
        "tape", np.array([[-29, -26], [157, -26], [157, 26], [-29, 26]]), [body, label, *strip]
    )


def template(rng: Rng) -> Prop:
    """A straight movement template."""
    length = float(rng.choice([40, 80, 120, 160, 200]))
    bar = Part(
        prism(rectangle(length, 20), 0, 2),
        plain(str(rng.choice(["#1c1d20", "#7a1f1f", "#2a5a3a"])), gloss=0.35),
    )
    line = Part(box(length, 1.0, 0.05).moved(0, 0, 2), plain("#e8e8e8"))
    return Prop("template", rectangle(length, 20), [bar, line])


def asteroid(rng: Rng) -> Prop:
    """An obstacle of printed cardboard."""
    angles = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    wave = (
        1
        + 0.12 * np.sin(2 * angles + rng.uniform(0, 6))
        + 0.08 * np.sin(3 * angles + rng.uniform(0, 6))
        + 0.04 * np.sin(7 * angles)
    )
    ring = np.stack([np.cos(angles), np.sin(angles)], 1) * wave[:, None] * rng.uniform(28, 55)
    stone = plain(
        str(rng.choice(["#8a7a68", "#77787c", "#6a5a4a"])),
        "#2c2824",
        grain="stone",
        grain_mm=110,
        gloss=0.2,
    )
    return Prop("rock", ring, [Part(prism(ring, 0, 1.8, facets=False), stone)])


def hand(rng: Rng, size_mm: Array) -> Prop:
    """An arm that reaches in over the edge of a board of that size, its fingers just above the table."""
    aim = rng.uniform(0.2, 0.8, 2) * size_mm
    side = np.array([[0, -1], [0, 1], [-1, 0], [1, 0]])[rng.integers(4)]
    edge = np.where(side == 0, aim + rng.uniform(-120, 120, 2), (side > 0) * size_mm)
    along = (aim - edge) / np.linalg.norm(aim - edge)
    skin = str(rng.choice(["#c68a63", "#e0ac85", "#8a5a3c", "#f0c8a8", "#5c3a26"]))
    cloth = str(rng.choice(["#26304a", "#7a2a2a", "#38393c", "#b8b4a8", "#2f5a3a"]))
    wide = 60 * np.array([-along[1], along[0]])
    start, end = edge - 160 * along, aim + 40 * along
    outline = np.array([start - wide, start + wide, end + wide, end - wide])
    return Prop("hand", outline, hand_parts(aim, -along, 0.0, skin, cloth))


def hand_parts(tip_mm: Array, away: Array, z_mm: float, skin: str, sleeve: str) -> list[Part]:
    """Fingers round a place (2,), and an arm that comes from a direction (2,)."""
    side = np.array([-away[1], away[0]])

    def stick(a: Spot, b: Spot, r0: float, r1: float, colour: str = skin) -> Part:
        """From a spot to another: how far away, aside and up."""
        ends = [np.append(tip_mm + away * s[0] + side * s[1], z_mm + s[2]) for s in (a, b)]
        return Part(limb(ends[0], ends[1], r0, r1, 16), plain(colour, grain="fine", gloss=0.1))

    fingers = [
        stick((4 * abs(k), 17 * k, 22), (58, 11 * k, 48), 7.5, 9.5) for k in (-1.5, -0.5, 0.5, 1.5)
    ]
    thumb = stick((6, -34, 22), (62, -24, 46), 9, 11)
    palm, wrist = (
        stick((55, 0, 50), (100, 0, 58), 26, 30),
        stick((95, 0, 58), (175, 0, 70), 24, 25),
    )
    return [*fingers, thumb, palm, wrist, stick((165, 0, 72), (1500, 0, 160), 36, 48, sleeve)]


PROPS: dict[str, Callable[[Rng], Prop]] = {
    "token": token,
    "die": die,
    "dice": dice,
    "card": card,
    "pencil": pencil,
    "mug": mug,
    "tape": tape,
    "template": template,
    "asteroid": asteroid,
}
