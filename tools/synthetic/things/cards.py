"""What is printed on the cards of plates and on other cardboard: no two alike."""

import cv2
import numpy as np

from synthetic.arrays import Array, Floats, Picture, Rng
from synthetic.noise import clouds
from synthetic.things.figures import any_colour

SIDE = 160
"""Pixels of a card."""
WORDS = (
    "RED TWO",
    "ONYX",
    "MED 4",
    "GOLD",
    "SABRE",
    "ACE",
    "No. 7",
    "WING LEADER",
    "iota",
    "HULL 5",
    "K-12",
    "vigil",
)
ARCS_DEG = (41.3, 41.3, 40.5, 42.0, 45.0, 35.0, 60.0, 90.0)


def any_card(rng: Rng) -> Floats:
    """A card (160, 160, 4): amounts of light, blue green red, and how far it covers; its upper edge looks ahead."""
    card = np.ascontiguousarray(_ground(rng))
    ink = _ink(rng)
    if rng.random() < 0.25:
        _glow(rng, card)
    if rng.random() < 0.85:
        _arcs(rng, card, ink)
    if rng.random() < 0.45:
        _silhouette(rng, card)
    for _ in range(int(rng.integers(0, 6))):
        _mark(rng, card)
    _words(rng, card)
    if rng.random() < 0.6:
        _frame(rng, card, ink)
    if rng.random() < 0.5:
        spot = any_colour(rng) if rng.random() < 0.5 else np.full(3, rng.choice([0.01, 0.6]))
        cv2.circle(card, _near_middle(rng), int(rng.uniform(6, 20)), spot.tolist(), -1, cv2.LINE_AA)
    return np.dstack([np.clip(card, 0.003, 0.9), _cover(rng)]).astype(np.float32)


def _ink(rng: Rng) -> Array:
    """A line's colour: mostly bright and of one hue."""
    hue = rng.permutation([rng.uniform(0.3, 0.9), rng.uniform(0.02, 0.8), rng.uniform(0.0, 0.3)])
    return np.asarray(
        hue if rng.random() < 0.75 else np.full(3, rng.choice([0.01, 0.3, 0.8])), float
    )


def _ground(rng: Rng) -> Floats:
    """Stars, clouds or plain: mostly dark."""
    base, other = any_colour(rng), any_colour(rng)
    kind = rng.random()
    if kind < 0.2:
        base = np.full(3, rng.uniform(0.3, 0.8), np.float32) * np.exp(
            rng.normal(0, 0.15, 3)
        ).astype(np.float32)
    elif kind < 0.7:
        base = base * np.float32(rng.uniform(0.05, 0.5))
    soft, fine = (clouds((SIDE, SIDE), size, rng) for size in (200, 4))
    cloud = np.clip(0.5 + rng.uniform(0, 0.6) * soft + rng.uniform(0, 0.15) * fine, 0, 1)
    card = base + cloud[..., None] * np.float32(rng.choice([0.0, 0.3, 1.0])) * (other - base)
    for x, y in rng.integers(0, SIDE, (int(rng.choice([0, 0, 30, 120])), 2)):
        card[y, x] += np.float32(rng.uniform(0.05, 0.8) ** 2)
    return np.asarray(card, np.float32)


def _glow(rng: Rng, card: Floats) -> None:
    """A planet, a blast or a lamp's reflection."""
    y, x = np.mgrid[:SIDE, :SIDE]
    at, reach = rng.uniform(0, SIDE, 2), rng.uniform(15, 90)
    card += np.exp(-((x - at[0]) ** 2 + (y - at[1]) ** 2) / reach**2)[..., None].astype(
        np.float32
    ) * any_colour(rng)


def _near_middle(rng: Rng) -> tuple[int, int]:
    x, y = (SIDE / 2 + rng.normal(0, 2, 2)).astype(int).tolist()
    return x, y


def _arcs(rng: Rng, card: Floats, ink: Array) -> None:
    """Limits of firing arcs, some arcs filled, a strip ahead, a ring."""
    middle, half = SIDE / 2, np.radians(float(rng.choice(ARCS_DEG)))
    reach = SIDE * (0.75 if rng.random() < 0.7 else rng.uniform(0.25, 0.6)) / max(np.cos(half), 0.2)
    ways = [np.array([np.sin(a), -np.cos(a)]) for a in (half, -half, np.pi - half, np.pi + half)]
    start = middle + rng.choice([0, rng.uniform(0, 30)])
    for chance, (a, b) in ((0.7, (0, 1)), (0.15, (2, 3)), (0.1, (0, 2)), (0.1, (1, 3))):
        if rng.random() < chance:
            corners = np.array(
                [[middle, middle], middle + reach * ways[a], middle + reach * ways[b]]
            )
            _tint(rng, card, corners, ink if rng.random() < 0.7 else _ink(rng))
    width = int(rng.choice([1, 2, 2, 3, 4, 5]))
    if rng.random() < 0.85:
        for way in ways[: 4 if rng.random() < 0.5 else 2]:
            _line(card, middle + (start - middle) * way, middle + reach * way, ink, width)
    if rng.random() < 0.35:
        for beside in (-1, 1):
            x = middle + beside * rng.uniform(25, 34)
            _line(card, np.array([x, middle]), np.array([x, 0]), ink, max(1, width // 2))
    if rng.random() < 0.35:
        cv2.circle(
            card, _near_middle(rng), int(rng.uniform(18, 62)), ink.tolist(), width, cv2.LINE_AA
        )


def _tint(rng: Rng, card: Floats, corners: Array, ink: Array) -> None:
    mask = np.zeros((SIDE, SIDE), np.float32)
    cv2.fillPoly(mask, [np.round(corners * 16).astype(np.int32)], 1.0, cv2.LINE_AA, 4)
    card += (mask * np.float32(rng.uniform(0.1, 0.9)))[..., None] * (ink.astype(np.float32) - card)


def _line(card: Floats, start: Array, end: Array, ink: Array, width: int) -> None:
    a, b = (np.round(p).astype(int).tolist() for p in (start, end))
    cv2.line(card, a, b, ink.tolist(), width, cv2.LINE_AA)


def _silhouette(rng: Rng, card: Floats) -> None:
    """A ship as drawn: a shape like its mirror image."""
    count, size = int(rng.integers(3, 9)), rng.uniform(20, 60)
    y = np.sort(rng.uniform(-1, 1, count))
    x = rng.uniform(0.05, 1, count)
    right = np.column_stack([x, y])
    shape = np.vstack([right, right[::-1] * [-1, 1]]) * size + SIDE / 2
    colour = any_colour(rng) if rng.random() < 0.6 else np.full(3, rng.uniform(0.1, 0.6))
    cv2.fillPoly(card, [np.round(shape).astype(np.int32)], colour.tolist(), cv2.LINE_AA)


def _mark(rng: Rng, card: Floats) -> None:
    """A badge or a little box, mostly near an edge."""
    at = rng.uniform(8, SIDE - 8, 2)
    at[int(rng.integers(2))] = rng.choice([14, SIDE - 14])
    half, ink = rng.uniform(3, 14, 2), _ink(rng).tolist()
    low, high = (np.round(at + s * half).astype(int).tolist() for s in (-1, 1))
    if rng.random() < 0.5:
        cv2.rectangle(card, low, high, ink, int(rng.choice([-1, 1, 2])), cv2.LINE_AA)
    else:
        cv2.ellipse(
            card,
            (at.tolist(), (2 * half).tolist(), 0.0),
            ink,
            int(rng.choice([-1, 1, 2])),
            cv2.LINE_AA,
        )


def _words(rng: Rng, card: Floats) -> None:
    for _ in range(int(rng.integers(0, 4))):
        text = str(rng.choice(WORDS)) if rng.random() < 0.6 else str(rng.integers(0, 100))
        ink = np.full(3, rng.choice([0.8, 0.8, 0.02])) if rng.random() < 0.6 else _ink(rng)
        place = (
            int(rng.uniform(4, 100)),
            int(rng.choice([rng.uniform(130, 156), rng.uniform(20, 156)])),
        )
        font, scale = int(rng.choice([0, 2, 3, 4])), rng.uniform(0.35, 1.3)
        mask = np.zeros((SIDE, SIDE), np.uint8)
        cv2.putText(mask, text, place, font, scale, 255, int(rng.integers(1, 4)), cv2.LINE_AA)
        mask = np.asarray(
            mask[::-1, ::-1] if rng.random() < 0.5 else mask, np.uint8
        )  # to be read from either end
        card += (mask / np.float32(255))[..., None] * (ink.astype(np.float32) - card)


def _frame(rng: Rng, card: Floats, ink: Array) -> None:
    """A line near the edge, of any colour, or a border to the edge."""
    colour = np.full(3, float(rng.choice([0.02, 0.3, 0.6]))) if rng.random() < 0.6 else ink
    inset, width = int(rng.integers(1, 9)) if rng.random() < 0.5 else 0, int(rng.integers(1, 6))
    corners = (inset, inset), (SIDE - 1 - inset, SIDE - 1 - inset)
    cv2.rectangle(card, *corners, colour.tolist(), width, cv2.LINE_AA)


def _cover(rng: Rng) -> Picture:
    """Where the cardboard is: all, or its corners cut, or a hole in the middle."""
    cover = np.ones((SIDE, SIDE), np.float32)
    if rng.random() < 0.2:
        cut = int(rng.uniform(4, 24))
        for x in (0, SIDE - 1):
            for y in (0, SIDE - 1):
                cv2.circle(cover, (x, y), cut, 0.0, -1)
    if rng.random() < 0.1:
        cv2.circle(cover, (SIDE // 2, SIDE // 2), int(rng.uniform(8, 20)), 0.0, -1)
    return cover  # type: ignore[return-value]
