"""The lessons of the networks that see bases closely, and what counts as a mistake."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from overruler.vision.learned.patches import (
    RING_ANGLE_COUNT,
    WRAP_COLUMNS,
    patch_input,
    ring_angles,
    ring_input,
)
from overruler.vision.learned.rim_net import fit_circles
from synthetic.arrays import Floats, Rng
from training.blocks import Arrays, Drawing
from training.lesson import FromBlocks, Lesson
from training.lessons.rims.cards import painted_cards, traced_cards
from training.lessons.rims.network import PatchNet, RingNet
from training.lessons.rims.patches import drawn_block
from training.lessons.rims.photos import photo_samples
from training.loop import Interface

Figures = dict[str, float]
Numbers = NDArray[np.float64]
_LEAST, _MOST = -5.5, 1.0
"""Bounds of a log σ."""
_COS, _SIN, _NEAR = 6, 7, 1e-4
ON_PAINTED, ON_TRACED = 3, 8
"""Prints on a painted piece of a table, and on a traced table."""
UNMANNED = 0.46
"""The share of painted tables whose bases carry no figures: a print has none either."""
PLAIN_MATS = Drawing(drawn_block, photo_samples)
PRINTED_MATS = Drawing(
    partial(drawn_block, prints=ON_PAINTED, unmanned=UNMANNED),
    partial(photo_samples, prints=ON_TRACED),
)
"""Samples of tables as they are, and with round prints on their mats."""
CARDS = Drawing(painted_cards, traced_cards)
"""Samples of bases with corners and of cards."""


# --- patches: base or not, and roughly where ---


def patch_loss(answer: Tensor, truth: Tensor) -> Tensor:
    """Cross entropy for base or not, and for bases the Gaussian's negative log likelihood of place and size."""
    sure, base = truth[:, 0] >= 0, truth[:, 0] == 1
    judged = nn.functional.binary_cross_entropy_with_logits(answer[sure, 0], truth[sure, 0])
    if not base.any():
        return judged
    said, true = answer[base], truth[base]
    error = said[:, 1:4] - true[:, 1:4]
    log_place, log_size = said[:, 4].clamp(_LEAST, _MOST), said[:, 5].clamp(_LEAST, _MOST)
    place = (error[:, :2] ** 2).sum(1) * torch.exp(-2 * log_place) / 2 + 2 * log_place
    size = error[:, 2] ** 2 * torch.exp(-2 * log_size) / 2 + log_size
    shown = nn.functional.binary_cross_entropy_with_logits(said[:, 6], true[:, 4])
    steady = nn.functional.smooth_l1_loss(said[:, 1:4], true[:, 1:4], beta=0.03)
    return (
        judged + 0.15 * (place.clamp(max=50) + size.clamp(max=50)).mean() + 0.3 * shown + 2 * steady
    )


def patch_figures(said: Numbers, truth: Numbers) -> Figures:
    """Average precision of the score; errors and calibration of place and size over the true bases."""
    sure, base = truth[:, 0] >= 0, truth[:, 0] == 1
    error = said[base, 1:4] - truth[base, 1:4]
    shown = 1 / (1 + np.exp(-said[base, 6]))
    return {
        "AP": average_precision(said[sure, 0], truth[sure, 0] == 1),
        **_spread(error),
        "in 1 σ": float(np.mean(np.abs(error[:, :2]) < np.exp(said[base, 4:5]))),
        "size in 1 σ": float(np.mean(np.abs(error[:, 2]) < np.exp(said[base, 5]))),
        "visible": float(np.mean(np.abs(shown - truth[base, 4]))),
    }


def _spread(error: Numbers) -> Figures:
    """Median and 90 % of the errors (N, 3) of place and log size."""
    place, size = np.linalg.norm(error[:, :2], axis=1), np.abs(error[:, 2])
    return {
        "place 50%": float(np.median(place)),
        "90%": float(np.quantile(place, 0.9)),
        "size 50%": float(np.median(size)),
        "size 90%": float(np.quantile(size, 0.9)),
    }


def average_precision(score: Numbers, good: NDArray[np.bool_]) -> float:
    """Area under precision over recall, by the sum over ranks."""
    hits = good[np.argsort(-score, kind="stable")]
    precision = np.cumsum(hits) / np.arange(1, len(hits) + 1)
    return float(precision[hits].mean()) if hits.any() else float("nan")


def mirrored_patches(blob: Floats) -> Floats:
    return np.ascontiguousarray(blob[..., ::-1])


# --- rings: how far out the rim is in each direction ---


def rim_reach(truth: Numbers) -> Numbers:
    """How far out the true rim is (N, 48), in radii, for truth (N, 5)."""
    turn = ring_angles()
    c, s = np.cos(turn), np.sin(turn)
    along, across = truth[:, 1:2] * c + truth[:, 2:3] * s, truth[:, 1:2] * s - truth[:, 2:3] * c
    return np.asarray(along + np.sqrt(np.maximum(np.exp(2 * truth[:, 3:4]) - across**2, _NEAR)))


def ring_loss(answer: Tensor, truth: Tensor) -> Tensor:
    """Each direction's negative log likelihood, and the error of the circle through all by weighted least squares."""
    reach = torch.from_numpy(rim_reach(truth.double().cpu().numpy())).float().to(answer.device)
    error, log_sigma = answer[:, 0, 0] + 1 - reach, answer[:, 1, 0].clamp(_LEAST, _MOST)
    likelihood = error**2 * torch.exp(-2 * log_sigma) / 2 + log_sigma
    turn = torch.from_numpy(ring_angles()).float().to(answer.device)
    slope = torch.stack([turn.cos(), turn.sin(), torch.ones_like(turn)], -1)
    weight = torch.exp(-2 * log_sigma)
    information = torch.einsum("nk,ki,kj->nij", weight, slope, slope) + 10 * torch.eye(
        3, device=answer.device
    )
    circle = torch.linalg.solve(information, torch.einsum("nk,ki->ni", weight * error, slope))
    far = nn.functional.smooth_l1_loss(circle, torch.zeros_like(circle), beta=0.005)
    steady = nn.functional.smooth_l1_loss(error, torch.zeros_like(error), beta=0.02)
    return 0.2 * likelihood.clamp(max=50).mean() + 2 * steady + 8 * far


def ring_figures(said: Numbers, truth: Numbers) -> Figures:
    """Errors of the circles, and how often they are within the σ that independent directions would give, times k."""
    count = len(said)
    circle, sigma = fit_circles(1 + said[:, 0, 0], np.exp(said[:, 1, 0]), np.full((count, 3), 0.5))
    error = np.column_stack([circle[:, :2] - truth[:, 1:3], np.log(circle[:, 2]) - truth[:, 3]])
    return {
        **_spread(error),
        "in 1 σ": float(np.mean(np.abs(error[:, :2]) < sigma[:, :1])),
        "size in 1 σ": float(np.mean(np.abs(error[:, 2]) < sigma[:, 1])),
        "68% at σ ×": float(np.quantile(np.abs(error[:, :2]) / sigma[:, :1], 0.683)),
        "size 68% at σ ×": float(np.quantile(np.abs(error[:, 2]) / sigma[:, 1], 0.683)),
        "size bias": float(np.median(error[:, 2])),
    }


def mirrored_rings(blob: Floats) -> Floats:
    """Column at angle a to column at half a turn less a; the cosine channel changes its sign twice and so stays."""
    middle = blob[..., WRAP_COLUMNS:-WRAP_COLUMNS]
    turned = np.roll(middle[..., ::-1], RING_ANGLE_COUNT // 2, -1)
    turned = np.concatenate([turned[:, :_COS], middle[:, _COS:]], 1)
    return np.concatenate([turned[..., -WRAP_COLUMNS:], turned, turned[..., :WRAP_COLUMNS]], -1)


# --- the two lessons ---


@dataclass(frozen=True, slots=True)
class Task:
    """What one of the networks learns, from samples with cutouts, side input and truth."""

    blob: Callable[[Any, Any], Floats]
    """Cutouts and side input as the network takes them."""
    mirror: Callable[[Floats], Floats]
    """The same, of the scene mirrored about the line away from the camera."""
    measure: Callable[[Numbers, Numbers], Figures]
    """How good answers are, given the truth (N, 5)."""

    def batch(self, data: Arrays, rng: Rng, count: int) -> tuple[Floats, Floats]:
        """So many samples, half of them mirrored, in half of them the colours swapped."""
        rows = np.sort(rng.integers(0, len(data["truth"]), count))
        blob, truth = self.shown(data, rows), data["truth"][rows].copy()
        flip = rng.random(count) < 0.5
        blob[flip] = self.mirror(blob[flip])
        truth[flip, 1] *= -1
        for k in np.nonzero(rng.random(count) < 0.5)[0]:
            blob[k, :3] = blob[k, rng.permutation(3)]
        return blob, truth

    def shown(self, data: Arrays, rows: Any) -> Floats:
        return self.blob(data["cutouts"][rows], data["side"][rows])

    def some(self, data: Arrays) -> Floats:
        """256 samples as the network takes them, evenly out of all."""
        return self.shown(data, np.linspace(0, len(data["truth"]) - 1, 256).astype(int))

    def figures(self, net: nn.Module, data: Arrays) -> str:
        net.eval()
        device, said = next(net.parameters()).device, []
        with torch.inference_mode():
            for start in range(0, len(data["truth"]), 256):
                blob = torch.from_numpy(self.shown(data, slice(start, start + 256))).to(device)
                answer = net(blob.to(memory_format=torch.channels_last))
                said.append(answer.double().cpu().numpy())
        found = self.measure(np.concatenate(said), data["truth"].astype(float))
        return "  ".join(f"{name} {value:.4f}" for name, value in found.items())

    def lesson(
        self,
        net: Any,
        loss: Callable[[Tensor, Tensor], Tensor],
        *names: str,
        drawing: Drawing = PLAIN_MATS,
    ) -> Lesson:
        """The lesson of a network whose samples have these names in a block."""
        fields = dict(zip(names, ("cutouts", "side", "truth"), strict=True))
        feed = FromBlocks(self.batch, self.figures, self.some, traced=0.3, fields=fields)
        interface = Interface((1, *net.shape), ("cutouts", "answers"), {0: "n"})
        return Lesson(net, loss, feed, interface, 128, 3e-3, 1000, ("samples",), drawing)


PATCHES = Task(patch_input, mirrored_patches, patch_figures)
RINGS = Task(ring_input, mirrored_rings, ring_figures)
LESSONS = {
    "rims": PATCHES.lesson(PatchNet, patch_loss, "patches", "side", "truth"),
    "prints": PATCHES.lesson(
        PatchNet, patch_loss, "patches", "side", "truth", drawing=PRINTED_MATS
    ),
    "cards": PATCHES.lesson(PatchNet, patch_loss, "patches", "side", "truth", drawing=CARDS),
    "rings": RINGS.lesson(RingNet, ring_loss, "rings", "ring_side", "ring_truth"),
}
