"""Edges round a place on the table, seen from above: what speaks for an outline in each direction and at each distance.

A patch of table round a place is unrolled to directions × distances. Along the outline of something that stands up
colours and textures change all at once, the same way for a while; the mat's own grain does not. So the patch is
smoothed along the outline, never across it, and what remains is compared with what is usual there.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.geometry.pose import Array
from overruler.vision.orthophoto import Orthophoto

STEP_MM = 2.0
"""Between distances."""
NEAREST_MM, FARTHEST_MM = 34.0, 262.0
"""How far out outlines are looked for: nearer are the base and its neighbours."""
AROUND_MM = 13.0
"""About as far along the outline the patch is smoothed."""
SHOWN = 0.6
"""A place counts where so much of it can be seen between the pieces."""
USUAL, WORTH, LEAST, MOST = 1.6, 0.9, -0.6, 3.0
"""What an edge so many times the usual change says for an outline, in nats: (times - usual) · worth, within bounds."""
SAME = (4.0, 1.0, 1.0, 0.2)
"""The scatter of the channels that light alone makes."""
LEAST_SHOWN = 0.3
"""The share of directions in which the ground must show on both sides of an outline."""
UNKNOWN = -0.05
"""What a hidden place says."""
Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """The table from above as colours and texture, without the pieces."""

    view: Orthophoto
    channels: Floats
    """(H, W, 4): L*a*b* and the logarithm of how rough the surface looks."""
    free: Floats
    """(H, W): 1 where the table shows."""


def field_of(view: Orthophoto, hidden_mm: list[tuple[Array, float]]) -> Field:
    """A picture from above; `hidden_mm` are discs (middle, radius) that do not count."""
    lab = cv2.cvtColor(view.pixels.astype(np.float32) / 255, cv2.COLOR_BGR2Lab)
    fine = lab[..., 0] - cv2.GaussianBlur(lab[..., 0], (0, 0), 2.0)
    rough = 2 * np.log(cv2.GaussianBlur(fine * fine, (0, 0), 2.5) + 1e-3)
    channels = cv2.GaussianBlur(np.dstack([lab, rough]).astype(np.float32), (0, 0), 1.0)
    free = view.seen.astype(np.uint8)
    for middle, radius in hidden_mm:
        x, y = np.round(view.to_px(middle)).astype(int).tolist()
        cv2.circle(free, (x, y), round(radius / view.mm_per_px), 0, -1)
    return Field(view, np.asarray(channels, np.float32), free.astype(np.float32))


def distances() -> Array:
    return np.arange(NEAREST_MM, FARTHEST_MM, STEP_MM)


def directions(count: int) -> Array:
    """Unit vectors (count, 2), counter-clockwise from +x."""
    turn = np.arange(count) * 2 * np.pi / count
    return np.stack([np.cos(turn), np.sin(turn)], -1)


def outline_evidence(field: Field, middle_mm: Array, count: int) -> Floats:
    """What speaks for an outline (count, R) in each direction and at each of the `distances`, in nats."""
    places = middle_mm + directions(count)[:, None] * distances()[:, None]
    at = field.view.to_px(places).astype(np.float32)
    colour = cv2.remap(field.channels, at[..., 0], at[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    free = cv2.remap(field.free, at[..., 0], at[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT)
    smooth, shown = _along(np.asarray(colour), np.asarray(free), count)
    change = np.zeros_like(smooth)
    change[:, 2:-2] = (smooth[:, 4:] + smooth[:, 3:-1] - smooth[:, :-4] - smooth[:, 1:-3]) / 2
    known = shown > SHOWN
    return np.where(known, _nats(_times_usual(change, known)), np.float32(UNKNOWN)).astype(np.float32)


def _along(colour: Floats, free: Floats, count: int) -> tuple[Floats, Floats]:
    """The patch smoothed round the place, over about `AROUND_MM` whatever the distance, and how much of it shows."""
    smooth, shown = np.empty_like(colour), np.empty_like(free)
    reach = np.clip(np.rint(AROUND_MM * count / (2 * np.pi) / distances()), 1, 4).astype(int)
    for width in np.unique(reach):
        here = reach == width
        weights = np.hanning(2 * width + 3)[1:-1]
        weights = (weights / weights.sum()).astype(np.float32)
        turns = range(-width, width + 1)
        part = np.asarray(sum(w * np.roll(free[:, here], k, 0) for k, w in zip(turns, weights, strict=True)))
        total = sum(w * np.roll((colour * free[..., None])[:, here], k, 0) for k, w in zip(turns, weights, strict=True))
        smooth[:, here], shown[:, here] = total / (part[..., None] + 1e-3), part
    return smooth, shown


def _times_usual(change: Floats, known: NDArray[np.bool_]) -> Floats:
    """How large the changes (count, R, 4) are, all channels together, against the usual ones."""
    if not known.any():
        return np.zeros(known.shape, np.float32)
    usual = 1.48 * np.median(np.abs(change[known]), axis=0) + np.float32(0.15)
    return np.asarray(np.sqrt(np.mean((change / usual) ** 2, axis=-1)), np.float32)


def _nats(times: Floats) -> Floats:
    """What each place says: much where the change is the largest around, a little less right beside it."""
    largest = cv2.dilate(times, np.ones((1, 5), np.uint8))
    peak = np.where(times >= largest, np.clip(WORTH * (times - USUAL), LEAST, MOST), LEAST)
    beside = np.maximum(np.roll(peak, 1, 1), np.roll(peak, -1, 1)) - 0.3
    return np.asarray(np.maximum(np.maximum(peak, beside), LEAST), np.float32)


def distinctness(field: Field, inside_mm: Sequence[Array], outside_mm: Sequence[Array]) -> float:
    """How different the ground is in two sets of rings of places (K, 2): Fisher's ratio, all channels together.

    0 where too little of it shows.
    """
    (here, seen), (there, also) = _ring(field, inside_mm), _ring(field, outside_mm)
    if min(seen.mean(), also.mean(), (seen & also).mean()) < LEAST_SHOWN:
        return 0.0
    here, there = here[seen], there[also]
    scatter = here.var(0) + there.var(0) + np.array(SAME)
    return float(np.sum((here.mean(0) - there.mean(0)) ** 2 / scatter))


def _ring(field: Field, places_mm: Sequence[Array]) -> tuple[Array, NDArray[np.bool_]]:
    """The mean channels (K, 4) over rings of places, where the table shows, and whether it does (K,)."""
    at = field.view.to_px(np.stack(places_mm)).astype(np.float32)
    colour = cv2.remap(field.channels, at[..., 0], at[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    free = cv2.remap(field.free, at[..., 0], at[..., 1], cv2.INTER_NEAREST, borderMode=cv2.BORDER_CONSTANT)
    shown = free.sum(0)
    return np.asarray((colour * free[..., None]).sum(0) / np.maximum(shown, 1e-6)[:, None]), np.asarray(shown > 0)
