"""How whole looks at rectangles that nobody named are taught: is it a base?

They are taken where the finder takes them, after the fit along the sides: at likely sizes at the guesses of the network
that sees the whole table, and about true bases.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.vision.imaging.orthophoto import rectify_photo
from overruler.vision.plates.rectangle_fit import BasePose, fit_pose
from overruler.vision.plates.regiment_face import FACTS, SAMPLES, look_at_face
from overruler.vision.plates.regiment_net import MM_PER_PX, look_at
from overruler.vision.plates.regiments import BASES, SIDES_MODEL, likely_poses
from synthetic.arrays import Array, Floats, Picture, Rng
from synthetic.camera import patch_view
from synthetic.from_above.regiments import FINER, PHOTOS_MM, regiment_photo, steepest_tilt
from synthetic.from_above.sheet import MARGIN_MM, lengthwise, on_board, read_truth
from synthetic.tiles import library
from training.blocks import Arrays, Drawing
from training.fit_regiment_score import verdict
from training.lesson import FromBlocks, Lesson
from training.loop import Interface, device_of

PHOTOS, REACH_MM = 16, 150.0
"""Of a block."""
GUESSED, TRUE, TRACED_TIMES = 26, 14, 8
"""The most looks at guesses of a photo, and about its bases; how many times more a traced table has."""
OFF_MM, BESIDE = 3.0, 0.3
"""1 σ of the place of looks about bases, and the share that lies half a base beside them."""
OTHER_SIZE = 0.5
"""The share of them of another size."""
LEAST_SHOWN = 0.2
"""No look is taken about bases of which less is seen."""
CHECKED = 3000
"""Looks that the check sees."""


def drawn_block(seed: int, number: int) -> Arrays:
    """Looks at painted pieces of tables."""
    rng, tiles = np.random.default_rng([seed, number, 59]), library(9000 + number, 8)
    found: list[tuple[Floats, Floats, float]] = []
    box = (-REACH_MM, -REACH_MM, REACH_MM, REACH_MM)
    for _ in range(PHOTOS):
        view = patch_view(rng, REACH_MM, float(rng.uniform(*PHOTOS_MM)), steepest_tilt(rng))
        photo, rows = regiment_photo(rng, view, tiles, REACH_MM, FINER)
        found += looks(rng, photo, view.camera, rows, box, 1)
    return _joined(found)


def traced_block(path: Path) -> Arrays:
    """Looks at a traced table."""
    truth, camera, photo = read_truth(path)
    standing = [one for one in truth["pieces"] if one["shape"]["type"] == "rectangle"]
    rows = [[*lengthwise(on_board(camera, one)), 1, one["visible_rim"]] for one in standing]
    width, height = truth["board"]["width_mm"], truth["board"]["height_mm"]
    box = (-MARGIN_MM, -MARGIN_MM, width + MARGIN_MM, height + MARGIN_MM)
    bases = np.array(rows, float).reshape(-1, 7)
    return _joined(list(looks(np.random.default_rng(5), photo, camera, bases, box, TRACED_TIMES)))


def looks(
    rng: Rng,
    photo: Picture,
    camera: Camera,
    bases: Array,
    box_mm: tuple[float, float, float, float],
    times: int,
) -> Iterator[tuple[Floats, Floats, float]]:
    """Yield colours (3, 48, 48) and facts (5,) of rectangles, and whether each is a base.

    `bases` (N, 7) are as `Sheet` has them.
    """
    cells = look_at(rectify_photo(photo, camera, box_mm, MM_PER_PX), camera)
    guessed = [pose for guess in cells.guesses for pose in likely_poses(guess)]
    seen = bases[bases[:, 6] > LEAST_SHOWN]
    poses = [guessed[k] for k in rng.permutation(len(guessed))[: GUESSED * times].tolist()]
    chosen = rng.integers(0, len(seen), TRUE * times).tolist() if len(seen) else []
    poses += [_near_base(rng, seen[k]) for k in chosen]
    frame = Frame(photo, "lesson")
    for pose in poses:
        one = fit_pose(frame, camera, pose, lambda *_: 0.0, SIDES_MODEL)
        if one is not None and (said := verdict(one, bases)) is not None:
            yield *look_at_face(one), said


def _near_base(rng: Rng, base: Array) -> BasePose:
    """A pose about a base, of its size or of another, or half a base beside it."""
    sizes = np.array([[one.length_mm, one.width_mm] for one in BASES])
    size, turn = base[2:4], float(base[4] + rng.normal(0, np.radians(3)))
    if rng.random() < OTHER_SIZE:
        near = np.argsort(np.abs(np.log(sizes / size)).sum(1))[1:6]
        size = sizes[int(rng.choice(near))]
        turn += np.pi / 2 * float(rng.random() < 0.2)
    fits = np.abs(np.log(sizes / size)).sum(1)
    xy = base[:2] + rng.normal(0, OFF_MM, 2)
    if rng.random() < BESIDE:
        way = float(base[4] + rng.integers(4) * np.pi / 2)
        xy = xy + base[2:4].min() / 2 * np.array([np.cos(way), np.sin(way)])
    return BasePose(BASES[int(np.argmin(fits))], xy, turn)


def _joined(found: list[tuple[Floats, Floats, float]]) -> Arrays:
    faces = [face for face, _, _ in found]
    return {
        "faces": np.array(faces, np.float16).reshape(-1, 3, SAMPLES, SAMPLES),
        "facts": np.array([facts for _, facts, _ in found], np.float32).reshape(-1, FACTS),
        "bases": np.array([said for _, _, said in found], np.float32),
    }


def batch(looks: Arrays, rng: Rng, count: int) -> tuple[Floats, Floats]:
    """So many looks in another light, each perhaps the other way round."""
    chosen = rng.integers(0, len(looks["bases"]), count)
    faces, facts = looks["faces"][chosen].astype(np.float32), looks["facts"][chosen].copy()
    for axis in (2, 3):  # across, then along
        turned = rng.random(count) < 0.5
        faces[turned] = np.flip(faces[turned], axis)
        facts[turned, 6 - axis] *= -1
    return _input(_recoloured(rng, faces), facts), looks["bases"][chosen]


def _recoloured(rng: Rng, faces: Floats) -> Floats:
    count = len(faces)
    faces[:, 0] += rng.normal(0, 7, (count, 1, 1))
    faces *= np.exp(rng.normal(0, 0.2, (count, 1, 1, 1)))
    turn = np.where(rng.random(count) < 0.4, rng.uniform(0, 2 * np.pi, count), 0)[:, None, None]
    a, b = faces[:, 1].copy(), faces[:, 2].copy()
    faces[:, 1], faces[:, 2] = (
        np.cos(turn) * a - np.sin(turn) * b,
        np.sin(turn) * a + np.cos(turn) * b,
    )
    return np.asarray(faces + rng.normal(0, 0.6, faces.shape), np.float32)


def _input(faces: Floats, facts: Floats) -> Floats:
    """As `face_input` makes it, of many."""
    scaled = faces / np.float32(30) - np.array([1.5, 0, 0], np.float32)[:, None, None]
    told = np.broadcast_to(facts[..., None, None], (*facts.shape, SAMPLES, SAMPLES))
    return np.concatenate([scaled, told], 1).astype(np.float32)


def pictures(looks: Arrays) -> Floats:
    return _input(looks["faces"][:CHECKED].astype(np.float32), looks["facts"][:CHECKED])


class FaceNet(nn.Module):  # type: ignore[misc]
    """(N, 8, 48, 48) to (N, 1): the log odds of a base."""

    def __init__(self, w: int = 20) -> None:
        super().__init__()

        def conv(a: int, b: int, kernel: int, stride: int = 1, pad: int | None = None) -> nn.Module:
            around = kernel // 2 if pad is None else pad
            layer = nn.Conv2d(a, b, kernel, stride, around, bias=False)
            return nn.Sequential(layer, nn.BatchNorm2d(b), nn.ReLU(inplace=True))

        self.net = nn.Sequential(
            conv(3 + FACTS, w, 5, 2),
            conv(w, w, 3),
            conv(w, 2 * w, 3, 2),
            conv(2 * w, 2 * w, 3),
            conv(2 * w, 3 * w, 3, 2),
            conv(3 * w, 3 * w, 3, 2),
            nn.Dropout2d(0.2),
            conv(3 * w, 2 * w, 3, pad=0),
            nn.Conv2d(2 * w, 1, 1),
        )

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.net(x)[..., 0, 0]
        return out


def loss(answer: Tensor, base: Tensor) -> Tensor:
    return nn.functional.binary_cross_entropy_with_logits(answer[:, 0], base)


def figures(net: nn.Module, looks: Arrays) -> str:
    """The mean loss, the share of bases, and of looks rightly judged."""
    few = np.random.default_rng(0).permutation(len(looks["bases"]))[:CHECKED]
    some = _input(looks["faces"][few].astype(np.float32), looks["facts"][few])
    truth = torch.from_numpy(looks["bases"][few]).to(device_of(net))
    net.eval()
    with torch.inference_mode():
        answer = net(torch.from_numpy(some).to(device_of(net)))
        right = ((answer[:, 0] > 0) == (truth > 0.5)).float().mean()
        return f"{float(loss(answer, truth)):.4f} ({float(truth.mean()):.2f} bases, {float(right):.3f} right)"


FEED = FromBlocks(batch, figures, pictures, traced=0.35)
LESSONS = {
    "regiment_face": Lesson(
        FaceNet,
        loss,
        FEED,
        Interface((12, 3 + FACTS, SAMPLES, SAMPLES), ("looks", "odds"), {0: "looks"}),
        batch=96,
        rate=2e-3,
        needed=("samples",),
        drawing=Drawing(drawn_block, traced_block),
    )
}
