"""How the looks along the sides of bases that nobody named are taught: also what is no side at all.

They are taken where the finder takes them: at every likely size at each guess of the network that sees the whole table,
right or wrong, and at true bases.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from overruler.bases import Base
from overruler.frame import Frame
from overruler.geometry.batched.vectors import left_normals
from overruler.geometry.camera import Camera
from overruler.vision.imaging.orthophoto import rectify_photo
from overruler.vision.plates.coarse_grid import STEP_MM
from overruler.vision.plates.rectangle_fit import BasePose, size_mm
from overruler.vision.plates.regiment_net import MM_PER_PX, SeenCells, look_at
from overruler.vision.plates.regiments import BASES, likely_poses
from overruler.vision.plates.side_net import (
    INPUT_CHANNELS,
    OFFSET_BINS,
    SAMPLES_ACROSS,
    SAMPLES_ALONG,
    STRETCHES_PER_SIDE,
    ZERO_SAMPLE,
    side_strips,
    stretch_samples_mm,
)
from overruler.vision.plates.sides import crop_view, half_extents, side_normals
from synthetic.arrays import Array, Picture, Rng
from synthetic.camera import patch_view
from synthetic.from_above.regiments import FINER, PHOTOS_MM, regiment_photo, steepest_tilt
from synthetic.from_above.sheet import MARGIN_MM, bases_of_shape, read_truth
from synthetic.painted.wardrobe import Wardrobe
from synthetic.tiles import library
from training.blocks import Arrays, Drawing
from training.lesson import FromBlocks, Lesson
from training.lessons.shapes.sides import INTERFACE, SidesNet, batch, loss, pictures
from training.loop import device_of

PHOTOS, REACH_MM = 16, 150.0
"""Of a block."""
GUESSED, TRUE, TRACED_TIMES = 14, 10, 4
"""The most looks at guesses of a photo, and at its bases; how many times more a traced table has."""
OFF_MM, OFF_RAD = 2.0, np.radians(2.5)
"""1 σ of the place and of the heading of looks at true bases."""
OTHER_SIZE = 0.3
"""The share of them at a base's place but of another size."""
LEAST_SHOWN = 0.15
"""No look is taken at bases of which less is seen."""
SAME_TURN_RAD = np.radians(6.0)
"""A side that is turned further is none for a look."""
BEYOND_MM = 1.0
"""A stretch's middle may lie so far beyond a side's end."""
CHECKED = 3000
"""Strips that the check looks at."""


def drawn_block(seed: int, number: int, wardrobe: Wardrobe | None = None) -> Arrays:
    """Strips of painted pieces of tables."""
    rng, tiles = np.random.default_rng([seed, number, 53]), library(7000 + number, 8)
    found: list[tuple[Array, Array]] = []
    for _ in range(PHOTOS):
        mm_per_px = float(rng.uniform(*PHOTOS_MM))
        view = patch_view(rng, REACH_MM, mm_per_px, steepest_tilt(rng))
        photo, rows = regiment_photo(rng, view, tiles, REACH_MM, FINER, wardrobe)
        box = (-REACH_MM, -REACH_MM, REACH_MM, REACH_MM)
        found += looks(rng, photo, view.camera, rows, box, 1)
    return _joined(found)


def traced_block(path: Path) -> Arrays:
    """Strips of a traced table."""
    rng, (truth, camera, photo) = np.random.default_rng(5), read_truth(path)
    bases = bases_of_shape(truth, camera, "rectangle")
    width, height = truth["board"]["width_mm"], truth["board"]["height_mm"]
    box = (-MARGIN_MM, -MARGIN_MM, width + MARGIN_MM, height + MARGIN_MM)
    return _joined(list(looks(rng, photo, camera, bases, box, TRACED_TIMES)))


def looks(
    rng: Rng,
    photo: Picture,
    camera: Camera,
    bases: Array,
    box_mm: tuple[float, float, float, float],
    times: int,
) -> Iterator[tuple[Array, Array]]:
    """Yield strips (12, 6, 44, 12) at guesses and at bases, and how many steps out the sides lie (12,).

    NaN where a stretch has no side. `bases` (N, 7) are as `Sheet` has them.
    """
    look = look_at(rectify_photo(photo, camera, box_mm, MM_PER_PX), camera)
    guessed = [pose for guess in SeenCells.of(look).guesses for pose in likely_poses(guess)]
    seen = bases[bases[:, 6] > LEAST_SHOWN]
    poses = [guessed[k] for k in rng.permutation(len(guessed))[: GUESSED * times].tolist()]
    chosen = rng.integers(0, len(seen), TRUE * times).tolist() if len(seen) else []
    poses += [_near_base(rng, seen[k]) for k in chosen]
    for pose in poses:
        view = crop_view(Frame(photo, "lesson"), camera, pose.xy_mm, pose.base.length_mm)
        if view is not None:
            size = size_mm(pose.base)
            strips = side_strips(view, pose.xy_mm, pose.turn_rad, size, STEP_MM)
            yield strips.astype(np.float16), places(pose, bases) / STEP_MM


def _near_base(rng: Rng, base: Array) -> BasePose:
    """A look at a base, a little off; sometimes it is taken for another size."""
    xy = base[:2] + rng.normal(0, OFF_MM, 2)
    turn = float(base[4] + rng.normal(0, OFF_RAD))
    if rng.random() < OTHER_SIZE:
        return BasePose(BASES[int(rng.integers(len(BASES)))], xy, turn)
    return BasePose(Base.rectangle(float(base[3]), float(base[2])), xy, turn)


def places(pose: BasePose, bases: Array) -> Array:
    """How far out (12,) from each stretch's supposed place a side of a base lies; NaN where none does.

    A side counts that faces the same way and passes the stretch's middle within the reach of the network.
    """
    half = half_extents(size_mm(pose.base))
    normals = side_normals(pose.turn_rad)
    tangents = left_normals(normals)
    along = stretch_samples_mm(2 * half[::-1]).mean(-1)
    middles = pose.xy_mm + (half[:, None] * normals)[:, None] + along[..., None] * tangents[:, None]
    reach_mm = (OFFSET_BINS // 2) * STEP_MM
    nearest = np.full((4, STRETCHES_PER_SIDE), np.nan)
    for x, y, length, width, turn, *_ in bases:
        theirs, spans = side_normals(turn), half_extents((length, width))
        for k, normal in enumerate(theirs):
            facing = normals @ normal
            out = (spans[k] - (middles - [x, y]) @ normal) / np.maximum(facing, 0.5)[:, None]
            aside = np.abs((middles - [x, y]) @ left_normals(normal[None])[0])
            here = (np.abs(out) < reach_mm) & (aside < np.roll(spans, 1)[k] + BEYOND_MM)
            here &= (facing > np.cos(SAME_TURN_RAD))[:, None]
            nearer = here & ~(np.abs(out) >= np.abs(nearest))
            nearest[nearer] = out[nearer]
    return nearest.ravel()


def _joined(found: Sequence[tuple[Array, Array]]) -> Arrays:
    empty = np.empty((0, INPUT_CHANNELS, SAMPLES_ACROSS, SAMPLES_ALONG)), np.empty(0)
    strips, true = (np.concatenate(kind) for kind in zip(empty, *found, strict=True))
    return {"strips": strips.astype(np.float16), "places": true.astype(np.float32)}


class RegimentSidesNet(SidesNet):
    """(N, 6, 44, 12) to (N, 26): the last says that there is no side."""

    def __init__(self, w: int = 24) -> None:
        super().__init__(w)
        self.net[-1] = nn.Conv2d(2 * w, 2, (1, 1))

    def forward(self, x: Tensor) -> Tensor:
        first = ZERO_SAMPLE - OFFSET_BINS // 2
        out: Tensor = self.net(x)[..., 0]
        return torch.cat([out[:, 0, first : first + OFFSET_BINS], out[:, 1].mean(1, True)], 1)


def loss_with_none(answer: Tensor, place: Tensor) -> Tensor:
    """Cross-entropy of where the side lies, and of whether there is one."""
    none, there = torch.isnan(place), ~torch.isnan(place)
    chance = torch.log_softmax(answer, -1)[:, -1]
    total = -chance[none].sum()
    if there.any():
        some = torch.log1p(-chance[there].exp().clamp(max=1 - 1e-6))
        total = total - some.sum() + loss(answer[there, :-1], place[there]) * there.sum()
    return total / len(place)


def figures(net: nn.Module, strips: Arrays) -> str:
    """The mean loss, and the share of strips without a side."""
    few = np.random.default_rng(0).permutation(len(strips["places"]))[:CHECKED]
    blob, truth = (torch.from_numpy(strips[name][few]).float() for name in ("strips", "places"))
    net.eval()
    with torch.inference_mode():
        lost = loss_with_none(net(blob.to(device_of(net))), truth.to(device_of(net)))
    return f"{float(lost):.4f} ({float(torch.isnan(truth).float().mean()):.2f} none)"


FEED = FromBlocks(batch, figures, pictures, traced=0.3)
LESSONS = {
    "regiment_edges": Lesson(
        RegimentSidesNet,
        loss_with_none,
        FEED,
        INTERFACE,
        batch=192,
        rate=3e-3,
        needed=("samples",),
        drawing=Drawing(drawn_block, traced_block),
    )
}
