"""Tell the hexagons among the bases of several photos, which single photos found as round ones.

what all photos say of each rim → the table → fits of all widths → the widths → fits with one heading
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from overruler.bases import Base
from overruler.geometry.pose import Array
from overruler.vision.fusion.hexagons.fit_all import FittedWidths
from overruler.vision.fusion.hexagons.seen_rim import SeenRim
from overruler.vision.hexagons.on_table import FIRST_LOOKS, judge_rims
from overruler.vision.hexagons.wanted import WantedHexagons
from overruler.vision.hexagons.widths import hexagon_like, may_be_hexagon, rim_doubt_mm2
from overruler.vision.pairing.decided import Decided
from overruler.vision.rounds.size_mixture import size_probabilities
from overruler.vision.rounds.uncertainty import MIN_REPORTED_PROBABILITY


@dataclass(frozen=True, slots=True, eq=False)
class _Judged:
    """What all photos say of a base that may be a hexagon."""

    rim: SeenRim
    probability: float
    """That it is one."""


def tell_hexagons(bases: Sequence[Decided], wanted: WantedHexagons) -> list[Decided]:
    """Return the bases, with hexagons in place of the round ones that are more likely hexagons.

    A base found with the mean diameter of a named hexagon is one, however few pixels show it. Only
    where a round base of about that size is named too do its sides decide.
    """
    if not wanted.widths_mm:
        return [*bases]
    judged = _judge(bases, wanted)
    likely = {k: one for k, one in judged.items() if one.probability > 0.5}
    fitted = {k: FittedWidths.of(one.rim, wanted.widths_mm) for k, one in likely.items()}
    fitted = {k: one for k, one in fitted.items() if one.fits}
    shares = _weigh_widths(list(fitted.values()), wanted.widths_mm)
    there = {wanted.widths_mm[size] for size in shares.argmax(1)}
    there = {*wanted.widths_mm} if wanted.are_named else there
    told = [_or_hexagon(one, judged.get(k), there) for k, one in enumerate(bases)]
    for (k, fits), share in zip(fitted.items(), shares, strict=True):
        told[k] = _as_hexagon(fits, share, judged[k].probability)
    return [_as_named(one, judged.get(k), wanted) for k, one in enumerate(told)]


def _judge(bases: Sequence[Decided], wanted: WantedHexagons) -> dict[int, _Judged]:
    """What the photos say of those bases that may be hexagons, by their numbers."""
    asked = [k for k, one in enumerate(bases) if may_be_hexagon(one.base, wanted.widths_mm)]
    asked.sort(key=lambda k: bases[k].base.width_mm)
    rims: dict[int, SeenRim] = {}

    def look(k: int) -> float | None:
        rims[k] = rims.get(k) or SeenRim.of(bases[k])
        return rims[k].logit

    first = len(asked) if wanted.are_named else FIRST_LOOKS
    found = judge_rims(asked, look, wanted.table_share, first)
    named = {k: wanted.stand_ins.get(bases[k].base) for k, rim in rims.items() if rim.evidence}
    for k, hexagon in named.items():
        if hexagon and (k not in found or not _round_like(hexagon, wanted)):
            found[k] = 1.0
    return {k: _Judged(rims[k], probability) for k, probability in found.items()}


def _round_like(hexagon: Base, wanted: WantedHexagons) -> Base | None:
    """The round base that is looked for and for which a hexagon may be taken, the nearest in size."""
    near = [one for one in wanted.rounds if hexagon_like(one, [hexagon.width_mm]) is not None]
    size_mm = hexagon.as_round.width_mm
    return min(near, key=lambda one: abs(one.width_mm - size_mm), default=None)


def _weigh_widths(fitted: Sequence[FittedWidths], widths_mm: Sequence[float]) -> Array:
    """The probabilities (N, C) of the widths of N hexagons: those of one table come in few widths."""
    nats = [one.log_likelihoods() for one in fitted]
    likelihoods = np.array(nats).reshape(-1, len(widths_mm), 1)
    return size_probabilities(likelihoods)[:, :, 0]


def _or_hexagon(one: Decided, judged: _Judged | None, widths_mm: set[float]) -> Decided:
    """A round base with the hexagon of the widths beside it that it may be, if any."""
    hexagon = hexagon_like(one.base, widths_mm) if one.base.shape == "circle" else None
    probability = 0.5 if judged is None else judged.probability
    if hexagon is None or probability < MIN_REPORTED_PROBABILITY:
        return one
    rest = {base: (1 - probability) * share for base, share in one.sizes.items()}
    return replace(one, sizes={**rest, hexagon: probability})


def _as_hexagon(fitted: FittedWidths, share: Array, probability: float) -> Decided:
    """The base as a hexagon with a probability; `share` (C,) are those of its widths."""
    one, likeliest = fitted.rim.base, int(share.argmax())
    widths = {size: fitted.widths_mm[size] for size in fitted.fits}
    base = Base.hexagon(widths[likeliest])
    others = [size for size in np.argsort(-share).tolist() if size in widths and size != likeliest]
    sizes = {base: probability * float(share[likeliest])}
    sizes |= {Base.hexagon(widths[size]): probability * float(share[size]) for size in others}
    sizes |= {base: (1 - probability) * chance for base, chance in one.sizes.items()}
    doubt_mm2 = rim_doubt_mm2(probability, base, widths, share) * np.eye(2)
    changed = one.with_sizes(sizes).with_sightings(fitted.sightings(likeliest))
    return replace(changed, doubt_mm2=doubt_mm2)


def _as_named(one: Decided, judged: _Judged | None, wanted: WantedHexagons) -> Decided:
    """The base with named hexagons for the round bases that stand for them, fitted or not."""
    sizes: dict[Base, float] = {}
    for base, chance in one.sizes.items():
        told = _in_place_of(base, judged, wanted)
        sizes[told] = sizes.get(told, 0.0) + chance
    return one.with_sizes(sizes) if sizes else one


def _in_place_of(base: Base, judged: _Judged | None, wanted: WantedHexagons) -> Base:
    """What stands for a base: a named hexagon for a stand-in, or a named round base by its sides."""
    hexagon = wanted.stand_ins.get(base)
    if hexagon is None:
        return base
    is_round = judged is not None and judged.probability < 0.5
    return (_round_like(hexagon, wanted) if is_round else None) or hexagon
