"""How likely rectangular bases are beside one another.

The bases of a unit share one size and one heading, and most stand side by side. So each hypothesis
of a base speaks for or against those around it. They form a Markov random field: the log odds of
one are a quadratic form of its own evidence and of its likely neighbours. Mean field solves it: every
chance follows from those of the others, a few times over.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.pose import Array, wrapped_turn
from overruler.vision.learned.coefficients import load_coefficients
from overruler.vision.learned.logits import sigmoid
from overruler.vision.learned.products import names_with_products, with_products
from overruler.vision.plates.sides import half_extents, side_normals

OWN_FEATURES = (
    "constant",
    "network_logit",
    "side_nats",
    "weakest_side",
    "size_chi2",
    "log_side",
    "closer_look_logit",
    "in_play_logit",
    "in_play_resized",
    "in_play_stretched",
    "in_play_moved",
)
"""What the chance of a base alone depends on."""
SHARED_FEATURES = ("contacts", "alike", "others")
"""What it depends on besides, among others: expected numbers of neighbours."""
SCALES = np.array([3.0, 6.0, 2.0, 8.0, 0.5, 3.0, 4.0, 0.2, 0.2, 0.2, 2.0, 2.0, 2.0])
"""About how large each of these is, but for the constant: products are of features by these."""
FEATURES = (*OWN_FEATURES, *SHARED_FEATURES)
WEIGHTS = load_coefficients("regiment_score")
ALONE_WEIGHTS = np.array([WEIGHTS[f"alone_{name}"] for name in OWN_FEATURES])
"""Weights of the log odds of a base alone."""
AMONG_WEIGHTS = np.array([WEIGHTS[name] for name in names_with_products(FEATURES)])
"""Weights of those of a base among others, and of their products."""
MAX_OVERLAP_SHARE = 0.2
"""Most overlap of two bases that may both stand, as a share of the smaller one's width."""
CONTACT_GAP_MM = -1.5, 3.5
"""Gaps at which two bases of one size stand side by side; a negative one is an error of their places."""
CONTACT_SLIP_MM = 2.5
"""How far they may be shifted along their common side."""
CONTACT_TURN_RAD = np.radians(4.0)
"""How far they may be turned against each other."""
NEAR_LENGTHS = 2.0
"""Bases within so many lengths of the longer one are near."""
MOST_NEAR = 4.0
"""So many near ones are enough."""
ROUNDS = 4
"""How often all chances are found anew: they hardly change any more."""
MAX_LOGIT = 20.0
"""Largest log odds of a hypothesis among others."""


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """N rectangles on the board."""

    xy_mm: Array
    """(N, 2): centres."""
    turn_rad: Array
    """(N,): headings of their length."""
    size_mm: Array
    """(N, 2): length and width."""

    def __len__(self) -> int:
        return len(self.turn_rad)


@dataclass(frozen=True, slots=True, eq=False)
class Relations:
    """How each of N rectangles stands to each other one."""

    rivals: NDArray[np.bool_]
    """(N, N): whether not both can stand."""
    touching: NDArray[np.bool_]
    """(4, N, N): whether the second is of the first one's size and in contact with its side."""
    alike: NDArray[np.bool_]
    """(N, N): whether it is of its size and near, but not in contact."""
    others: NDArray[np.bool_]
    """(N, N): whether it is of another size, near, and parallel or across: a unit has one size."""

    @classmethod
    def of(cls, places: Places) -> "Relations":
        """Relate all to all."""
        offsets = places.xy_mm - places.xy_mm[:, None]
        apart = np.hypot(*np.moveaxis(offsets, -1, 0))
        length, width = places.size_mm.T
        reach = (length[:, None] + length) / 2**0.5
        rivals = (_overlap_mm(places) > MAX_OVERLAP_SHARE * np.minimum.outer(width, width)) & (
            apart < reach
        )
        np.fill_diagonal(rivals, False)
        same = (places.size_mm == places.size_mm[:, None]).all(-1)
        touching = same & _touch(places)
        limit = NEAR_LENGTHS * np.maximum.outer(length, length)
        near = (apart < limit) & ~rivals & ~np.eye(len(places), dtype=bool)
        alike = near & same & ~touching.any(0)
        aligned = _turn_rad(places, np.pi / 2) < CONTACT_TURN_RAD
        return cls(rivals, touching & ~rivals, alike, near & ~same & aligned)

    def chances(self, logits: Array) -> Array:
        """Return the probability of each (N,), by its log odds against nothing and those of its rivals."""
        odds = np.exp(np.clip(logits, -MAX_LOGIT, MAX_LOGIT))
        return np.asarray(odds / (1 + odds + self.rivals @ odds))

    def features(self, chances: Array) -> Array:
        """Return the shared features (N, 3), by the probability of each."""
        contacts = (self.touching * chances).max(-1, initial=0).sum(0)
        alike = np.minimum(MOST_NEAR, self.alike @ chances)
        others = np.minimum(MOST_NEAR, self.others @ chances)
        return np.column_stack([contacts, alike, others])


def in_units(places: Places) -> NDArray[np.bool_]:
    """Return which rectangles (N,) touch one of their size, side by side, as in rank and file."""
    return np.asarray(Relations.of(places).touching.any((0, 2)))


def settled_scores(own: Array, places: Places) -> Array:
    """Return the probability of each hypothesis among the others, by its own features (N, 11)."""
    relations = Relations.of(places)
    logits = own @ ALONE_WEIGHTS
    for _ in range(ROUNDS):
        shared = relations.features(relations.chances(logits))
        logits = with_products(np.column_stack([own, shared]), SCALES) @ AMONG_WEIGHTS
    return sigmoid(logits)


def _touch(places: Places) -> NDArray[np.bool_]:
    """Return whether the second (4, N, N) stands at each side of the first, if both are of one size."""
    length, width = places.size_mm.T
    modulo = np.where(length == width, np.pi / 2, np.pi)[:, None]
    parallel = _turn_rad(places, modulo) < CONTACT_TURN_RAD
    normals = np.stack([side_normals(turn) for turn in places.turn_rad])
    offsets = places.xy_mm - places.xy_mm[:, None]
    ahead = np.einsum("nki,nmi->knm", normals, offsets)
    aside = np.abs(np.roll(ahead, -1, 0))
    sides = np.stack([2 * half_extents(size) for size in places.size_mm], 1)
    gap = ahead - sides[..., None]
    low, high = CONTACT_GAP_MM
    return np.asarray((gap > low) & (gap < high) & (aside < CONTACT_SLIP_MM) & parallel)


def _turn_rad(places: Places, modulo: Array | float) -> Array:
    """Return how far each two (N, N) are turned against each other."""
    turns = places.turn_rad - places.turn_rad[:, None]
    return np.abs(wrapped_turn(turns, modulo))


def _overlap_mm(places: Places) -> Array:
    """Return how deep each two rectangles (N, N) reach into each other (separating axes)."""
    normals = np.stack([side_normals(turn)[:2] for turn in places.turn_rad])
    spans = normals * places.size_mm[..., None] / 2
    offsets = places.xy_mm - places.xy_mm[:, None]
    own = places.size_mm[:, :, None] / 2
    theirs = np.abs(np.einsum("nki,mji->nkmj", normals, spans)).sum(-1)
    apart = np.abs(np.einsum("nki,nmi->nkm", normals, offsets))
    depth = (own + theirs - apart).min(1)
    return np.asarray(np.minimum(depth, depth.T))
