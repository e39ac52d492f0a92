"""A drawn table with square plates on it, as a camera would see them: for tests of finding and fitting them."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from evaluate.drawn.markers import camera_over
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.plates.sides import ARC_HALF_ANGLE_RAD, PLATE_HEIGHT_MM, UPPER_EDGE_INSET_MM

Pixels = NDArray[np.uint8]
FINE = 4
"""Drawn so many times larger, then averaged."""
BODY, CARD, INK, LIGHT = (30, 30, 32), (48, 40, 36), (120, 200, 210), (205, 205, 205)


@dataclass(frozen=True, slots=True)
class Ship:
    """A plate on the table, with its card."""

    x_mm: float
    y_mm: float
    heading_deg: float
    side_mm: float = 40.0
    card_mm: float = 1.7
    """How far inside the lower edge the card ends."""

    def place(self, forward_left: Array, z_mm: float) -> Array:
        """Points (K, 2) in half sides, forward and to the left, on the board (K, 3) at a height."""
        turn = np.radians(self.heading_deg)
        axes = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
        xy = np.array([self.x_mm, self.y_mm]) + self.side_mm / 2 * np.asarray(forward_left) @ axes
        return np.column_stack([xy, np.full(len(xy), z_mm)])


SIZE_PX = (1440, 1200)
SHIPS = [
    Ship(150, 160, 12.0),
    Ship(192, 168.9, 12.0),
    Ship(330, 300, 200.0, 60.0, 2.1),
    Ship(180, 360, 305.0, 80.0, 1.3),
    Ship(400, 150, 88.0, 40.0, 1.2),
    Ship(460, 400, 151.0),
]
"""The first two stand a few millimetres apart, side by side."""
SQUARE = np.array([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])


def table_camera(tilt_deg: float) -> Camera:
    return camera_over(
        tilt_deg, size_px=SIZE_PX, height_mm=800.0, focal_px=1400.0, aim_mm=(290.0, 260.0)
    )


SMALL_PX = (900, 800)
"""Size of a photo of one or two plates."""


def small_camera(tilt_deg: float) -> Camera:
    return camera_over(
        tilt_deg, size_px=SMALL_PX, height_mm=800.0, focal_px=1400.0, aim_mm=(200.0, 180.0)
    )


def table_with(
    camera: Camera,
    ships: list[Ship],
    size_px: tuple[int, int],
    mat: int = 120,
    noise: float = 1.5,
    seed: int = 0,
) -> Frame:
    """A photo of the ships' plates on a plain mat; a horizon is not drawn."""
    random = np.random.default_rng(seed)
    width, height = size_px
    picture = np.full((height * FINE, width * FINE, 3), mat, np.uint8)
    for ship in ships:
        _draw(picture, camera, ship)
    small = cv2.resize(picture, size_px, interpolation=cv2.INTER_AREA).astype(float)
    small = cv2.GaussianBlur(small, (0, 0), 0.7) + random.normal(0, noise, small.shape)
    return Frame(np.clip(small, 0, 255).astype(np.uint8), "drawn")


def _draw(picture: Pixels, camera: Camera, ship: Ship) -> None:
    half = ship.side_mm / 2
    lower = ship.place(SQUARE, 0.0)
    upper = ship.place(SQUARE * (1 - UPPER_EDGE_INSET_MM / half), PLATE_HEIGHT_MM)
    hull = cv2.convexHull(camera.project(np.vstack([lower, upper])).astype(np.float32))[:, 0]
    _fill(picture, np.asarray(hull, float), BODY)
    card = 1 - ship.card_mm / half
    _fill(picture, camera.project(ship.place(SQUARE * card, PLATE_HEIGHT_MM)), CARD)
    tip = card * np.array([1.0, np.tan(ARC_HALF_ANGLE_RAD)])
    front = np.array([[0.0, 0.0], tip, tip * [1, -1]])
    _fill(
        picture,
        camera.project(ship.place(front, PLATE_HEIGHT_MM)),
        tuple((a + b) // 2 for a, b in zip(CARD, INK, strict=True)),
    )
    for end in (tip, tip * [1, -1], -tip, tip * [-1, 1]):
        _line(
            picture,
            camera.project(ship.place(np.array([[0.0, 0.0], end]), PLATE_HEIGHT_MM)),
            INK,
            camera,
            ship,
        )
    frame = SQUARE * (card - 0.5 / half)
    _line(
        picture,
        camera.project(ship.place(np.vstack([frame, frame[:1]]), PLATE_HEIGHT_MM)),
        LIGHT,
        camera,
        ship,
    )


def _at(pixels: Array) -> NDArray[np.int32]:
    return np.round(((np.asarray(pixels) + 0.5) * FINE - 0.5) * 16).astype(np.int32)


def _fill(picture: Pixels, outline_px: Array, colour: tuple[int, ...]) -> None:
    cv2.fillPoly(picture, [_at(outline_px)], colour, cv2.LINE_AA, 4)


def _line(
    picture: Pixels, points_px: Array, colour: tuple[int, ...], camera: Camera, ship: Ship
) -> None:
    """A line 0.5 mm wide."""
    scale = float(camera.mm_per_px(np.array([ship.x_mm, ship.y_mm, PLATE_HEIGHT_MM])))
    cv2.polylines(
        picture, [_at(points_px)], False, colour, max(1, round(0.5 / scale * FINE)), cv2.LINE_AA, 4
    )
