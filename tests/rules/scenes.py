"""Scenes for the tests of rules: a few pieces on a board, with or without doubt."""

from typing import Any

import numpy as np

from overruler.geometry.pose import Array
from overruler.scene import Scene


def disc(
    name: str, x_mm: float, y_mm: float, diameter_mm: float = 30, **more: Any
) -> dict[str, Any]:
    base = {"shape": "circle", "diameter_mm": diameter_mm}
    return {"id": name, "base": base, "x_mm": x_mm, "y_mm": y_mm, **more}


def joint(count: int, sigma_mm: float, seed: int = 5) -> Array:
    """A covariance (2N, 2N) with much in common, as a photo's has."""
    shared = np.random.default_rng(seed).normal(size=(2 * count, 3)) * sigma_mm
    return np.asarray(shared @ shared.T + np.eye(2 * count) * sigma_mm**2 / 4)


def scene_of(
    pieces: list[dict[str, Any]],
    covariance: Array | None = None,
    *,
    game: str,
    board_mm: tuple[float, float] = (900, 900),
    **more: Any,
) -> Scene:
    """A scene file's pieces as a scene; `covariance` (2N, 2N) in their order."""
    board = dict(zip(("width_mm", "height_mm"), board_mm, strict=True))
    if covariance is not None:
        more["covariance"] = {
            "order": [piece["id"] for piece in pieces],
            "mm2": covariance.tolist(),
        }
    return Scene.from_json(
        {"schema": "overruler/scene/1", "game": game, "board": board, "pieces": pieces} | more
    )
