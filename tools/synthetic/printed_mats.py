"""Prints on the mats of photos whose truth is known: planets, signs, lids, rings, patches of ground.

They lie flat and carry nothing, so none is a base. They keep away from pieces, markers and hills.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np

from overruler.geometry.camera import Camera
from synthetic.arrays import Array, Floats, Picture, Rng
from synthetic.develop import encode_srgb
from synthetic.from_above.sheet import Truth, on_board
from synthetic.noise import clouds
from synthetic.painted.art import any_art, ink, round_art
from synthetic.painted.plates import spun
from synthetic.things.figures import any_colour

SIDE = 400
"""Pixels of a print's side before it lies on the mat."""
MARGIN = 60
"""Pixels about it, for a soft edge."""
RADII_MM = 11.0, 70.0
"""Radii are as often in one part of these, on a logarithmic scale, as in another."""
CLEARANCE_MM = 12.0
"""Least distance from a piece's edge."""
CARD_REACH_MM = 50.0
"""Distance kept from the middle of a marker."""
TRIES = 100
"""Places that are tried for one print."""
NOISE = 2.0
"""1 σ of the camera's noise on a print, in grey levels."""
SOFT_PX = 0.7
"""1 σ of the camera's blur."""
Box = tuple[float, float, float, float]
"""Left, low, right, high, in mm."""
FORMS = {"disc": (1.0, 1.0), "oval": (0.55, 0.8), "square": (1.0, 1.0), "oblong": (0.4, 0.8)}
"""Forms of prints, and their least and largest width as a share of the length."""
ANGULAR = "square", "oblong"


@dataclass(frozen=True, slots=True, eq=False)
class Lookalike:
    """A print on a mat."""

    xy_mm: Array
    """(2,): its middle."""
    half_mm: Array
    """(2,): half its length and half its width."""
    turn_rad: float
    kind: str
    """A name of `KINDS`."""
    is_angular: bool = False

    @property
    def radius_mm(self) -> float:
        return float(self.half_mm[0])

    def holds(self, xy_mm: Array) -> bool:
        """Tell whether a place (2,) lies in the circle about it."""
        return bool(np.hypot(*(xy_mm - self.xy_mm)) < self.radius_mm)


def any_angular(rng: Rng) -> str:
    """Return the form of prints with corners on one mat."""
    return str(rng.choice(ANGULAR))


def print_on_mat(
    rng: Rng, photo: Picture, camera: Camera, truth: Truth, count: int, form: str = "disc"
) -> tuple[Picture, list[Lookalike]]:
    """Return a photo with up to so many prints of a form on its mat, and what they are."""
    board = truth["board"]
    box = (0.0, 0.0, board["width_mm"], board["height_mm"])
    return print_among(rng, photo, camera, box, list(_taken(truth, camera)), count, form)


def print_among(
    rng: Rng,
    photo: Picture,
    camera: Camera,
    box_mm: Box,
    taken: list[Array],
    count: int,
    form: str = "disc",
) -> tuple[Picture, list[Lookalike]]:
    """The same in a box of the mat, outside `taken` circles (3,) of x, y and radius in mm."""
    taken, seen = [*taken], photo.astype(np.float32)
    prints = []
    for _ in range(count):
        place = _free_place(rng, box_mm, taken)
        if place is None:
            continue
        kind, share = str(rng.choice(list(KINDS))), rng.uniform(*FORMS[form])
        half, turn = place[2] * np.array([1.0, share]), float(rng.uniform(0, 2 * np.pi))
        one = Lookalike(place[:2], half, turn, kind, form in ANGULAR)
        if _lay(rng, seen, camera, one):
            taken.append(place)
            prints.append(one)
    return seen.clip(0, 255).astype(np.uint8), prints


def _taken(truth: Truth, camera: Camera) -> Iterator[Array]:
    """Circles (3,) of x, y and radius in mm where no print lies."""
    for piece in truth["pieces"]:
        x, y, length, width, _ = on_board(camera, piece)
        yield np.array([x, y, max(length, width) / 2 + CLEARANCE_MM])
    for marker in truth["markers"]["items"]:
        yield np.array([*np.array(marker["corners_mm"])[:, :2].mean(0), CARD_REACH_MM])
    for hill in truth.get("terrain", []):
        foot = np.array(hill["footprint_mm"], float).reshape(-1, 2)
        middle = foot.mean(0)
        yield np.array([*middle, np.hypot(*(foot - middle).T).max()])


def _free_place(rng: Rng, box_mm: Box, taken: list[Array]) -> Array | None:
    """Return a free circle (3,) in a box; None where none is found."""
    low, high = np.array(box_mm[:2]), np.array(box_mm[2:])
    for _ in range(TRIES):
        radius = float(np.exp(rng.uniform(*np.log(RADII_MM))))
        if 2 * radius > (high - low).min():
            continue
        at = rng.uniform(low + radius, high - radius)
        if all(np.hypot(*(at - other[:2])) > radius + other[2] for other in taken):
            return np.array([*at, radius])
    return None


def _lay(rng: Rng, photo: Floats, camera: Camera, one: Lookalike) -> bool:
    """Draw a print into the photo; tell whether the photo shows its place."""
    square = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * one.half_mm
    outline = spun(square, one.turn_rad) + one.xy_mm
    corners = camera.project(np.column_stack([outline, np.zeros(4)]))
    low, high = np.floor(corners.min(0)).astype(int) - 3, np.ceil(corners.max(0)).astype(int) + 4
    if (low < 0).any() or (high > photo.shape[1::-1]).any():
        return False
    picture, cover = KINDS[one.kind](rng, _out(one.is_angular))
    scale = np.sqrt(cv2.contourArea(corners.astype(np.float32))) / SIDE
    soft = max(SOFT_PX / scale * rng.uniform(0.7, 1.3), 0.3)
    edge = np.array([[0, 0], [SIDE, 0], [SIDE, SIDE], [0, SIDE]], np.float32) + MARGIN - 0.5
    onto = cv2.getPerspectiveTransform(edge, (corners - low).astype(np.float32))
    size = tuple((high - low).tolist())
    values = 255 * encode_srgb(rng.uniform(0.35, 0.95) * picture.clip(0, 1))
    print_there = _warped(values.astype(np.float32), cv2.BORDER_REPLICATE, soft, onto, size)
    share = _warped(cover, cv2.BORDER_CONSTANT, soft, onto, size)
    there = photo[low[1] : high[1], low[0] : high[0]]
    noisy = print_there + rng.normal(0, NOISE, there.shape)
    there += share[..., None] * (noisy - there)
    return True


def _warped(layer: Floats, beyond: int, soft: float, onto: Any, size: tuple[int, int]) -> Floats:
    """A layer of a print as the photo shows it; `beyond` says what lies past its edge, which is soft too."""
    wider = cv2.copyMakeBorder(layer, MARGIN, MARGIN, MARGIN, MARGIN, beyond)
    there = cv2.warpPerspective(cv2.GaussianBlur(wider, (0, 0), soft), onto, size)
    return np.asarray(there, np.float32)


# --- kinds of prints, by how far `out` pixels lie: light (SIDE, SIDE, 3), blue green red, and cover (SIDE, SIDE) ---


def _axes() -> tuple[Floats, Floats]:
    step = np.linspace(-1, 1, SIDE, dtype=np.float32)
    return step[None], step[:, None]


def _out(is_angular: bool) -> Floats:
    """How far out each pixel (SIDE, SIDE) lies: 1 is the edge of a disc or of a square."""
    x, y = _axes()
    far = np.maximum(np.abs(x), np.abs(y)) if is_angular else np.hypot(x, y)
    return np.asarray(far, np.float32)


def _inside(out: Floats) -> Floats:
    return (out <= 1).astype(np.float32)


def _marbled(rng: Rng) -> Floats:
    """Two colours in clouds."""
    first, second = any_colour(rng), any_colour(rng)
    cover = clouds((SIDE, SIDE), SIDE * rng.uniform(0.05, 0.4), rng)
    share = (0.5 + 0.5 * cover).clip(0, 1)[..., None]
    return np.asarray(first + (second - first) * share, np.float32)


def _planet(rng: Rng, out: Floats) -> tuple[Floats, Floats]:
    """A ball that the print shows lit from one side."""
    x, y = _axes()
    turn, aside = rng.uniform(0, 2 * np.pi), rng.uniform(0.2, 0.8)
    facing = np.sqrt((1 - out**2).clip(0))
    light = aside * (np.cos(turn) * x + np.sin(turn) * y) + (1 - 0.4 * aside) * facing
    dark = rng.uniform(0.02, 0.4)
    return np.asarray(_marbled(rng) * (dark + 0.8 * light.clip(0, 1))[..., None]), _inside(out)


def _plain(rng: Rng, out: Floats) -> tuple[Floats, Floats]:
    return np.full((SIDE, SIDE, 3), any_colour(rng), np.float32), _inside(out)


def _sign(rng: Rng, out: Floats) -> tuple[Floats, Floats]:
    """A picture, a word or a star with a border."""
    art = cv2.resize(round_art(rng), (SIDE, SIDE), interpolation=cv2.INTER_LINEAR)
    return np.asarray(art[..., :3], np.float32), _inside(out)


def _picture(rng: Rng, out: Floats) -> tuple[Floats, Floats]:
    art = cv2.resize(any_art(rng), (SIDE, SIDE), interpolation=cv2.INTER_LINEAR)
    return np.asarray(art, np.float32), _inside(out)


def _ground(rng: Rng, out: Floats) -> tuple[Floats, Floats]:
    """Earth, sand or a crater's floor, some with a dark border."""
    grains = 1 + 0.2 * clouds((SIDE, SIDE), rng.uniform(3, 20), rng)
    border = np.where(out > 1 - rng.uniform(0, 0.12), rng.uniform(0.2, 1), 1)
    return np.asarray(_marbled(rng) * (grains * border)[..., None], np.float32), _inside(out)


def _ring(rng: Rng, out: Floats) -> tuple[Floats, Floats]:
    """A line, or a band through which the mat may show."""
    band = _inside(out) * (out > 1 - rng.uniform(0.04, 0.3))
    return _marbled(rng), np.asarray(band * rng.uniform(0.5, 1), np.float32)


def _lid(rng: Rng, out: Floats) -> tuple[Floats, Floats]:
    """A cover over a drain: studs or a grid, with a plain border."""
    x, y = _axes()
    pitch = rng.uniform(6, 20)
    studs = np.where(np.sin(pitch * x) * np.sin(pitch * y) > 0, 1.6, 0.7)
    tone = np.where(out > 0.85, rng.uniform(0.4, 1.8), studs)
    return np.asarray(0.4 * np.array(ink(rng)) * tone[..., None], np.float32), _inside(out)


KINDS: dict[str, Callable[[Rng, Floats], tuple[Floats, Floats]]] = {
    "planet": _planet,
    "plain": _plain,
    "sign": _sign,
    "picture": _picture,
    "ground": _ground,
    "ring": _ring,
    "lid": _lid,
}
