"""What a table photographed from several sides is to show."""

from dataclasses import replace

import numpy as np

from synthetic.traced.spec import Spec, draw_spec

KINDS = ("hd", "4k", "hd")
"""The cameras of three photos: two by one kind, one by another."""
TILT_DEG = (24.0, 36.0)
"""From where people hold a phone over a table that they stand at."""


def draw_views_spec(seed: int, game: str | None = None) -> Spec:
    """A spec out of a seed: with hills, roofs and things that hide pieces, without what lies around."""
    rng = np.random.default_rng([seed, 5])
    game = game or str(rng.choice(["legion", "inches", "inches", "xwing"]))
    spec = draw_spec(seed, "hd", game)
    heights = 0 if game == "xwing" else int(rng.integers(1, 4))
    terrain = 0 if game == "xwing" else heights + int(rng.integers(3, 7))
    return replace(
        spec,
        terrain=terrain,
        heights=heights,
        markers=max(spec.markers, 6),
        tilt_deg=round(float(rng.uniform(*TILT_DEG)), 3),
        crowd=float(rng.uniform(0.6, 1.0)),
    )
