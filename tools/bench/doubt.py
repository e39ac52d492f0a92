"""How fast are rulings in doubt? Beside shapely and plain loops over draws, in one run.

uv run tools/bench/speed.py doubt
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import shapely
from shapely.affinity import translate

from overruler.rules import ask, matrix
from overruler.scene import Scene

DRAWS = 1000
"""Draws of a loop over shapely: they give a probability to 0.03."""
FEW_DRAWS = 100
"""Draws of a loop whose draws take long: they give a probability to 0.1."""
SIGMA_MM = 0.3
UNITS_APART_MM = 304.6
"""So far apart that the farthest part of one unit is 0.2 mm nearer to the other than the line."""
PIECES = 200
MANY_PIECES = 2000
RANGE = {"question": "range", "from": "p0", "to": "p1"}
WITHIN = {"question": "within", "from": "a", "to": "b", "range": [1, 2]}
SHADOW = {"question": "area", "hidden_from": "p0"}
TARGETS = {"question": "targets", "unit": "p0"}


def doubt_tasks() -> dict[str, Callable[[], object]]:
    """Each row with the loop that it stands beside."""
    pair, units, shooters = _pair(), _units(), _shooters()
    crowd, many = _crowd(PIECES, 1.0), _crowd(MANY_PIECES, 0.0)
    hall = _hall()
    discs = [shapely.Point(shape.center).buffer(20) for shape in crowd.shapes]
    return {
        "pair near a line: shapely, 1000 draws": _pair_loop,
        "pair near a line": lambda: ask(pair, RANGE),
        f"within of units near a line: shapely, {FEW_DRAWS} draws": lambda: _units_loop(units),
        "within of units near a line": lambda: ask(units, WITHIN),
        "targets among ten in doubt": lambda: ask(shooters, TARGETS),
        "200 mixed: shapely, loop": lambda: [shapely.distance(a, b) for a in discs for b in discs],
        "200 mixed: matrix, with doubt": lambda: matrix(crowd),
        "2000 mixed: Scene.distances": many.distances,
        "shadow past 6 terrains, 20 pieces": lambda: ask(replace(hall, covariance=None), SHADOW),
        "the same with doubt": lambda: ask(hall, SHADOW),
    }


def _pair_loop() -> float:
    disc = shapely.Point(0, 0).buffer(16)
    box = shapely.box(168.3, -20, 228.3, 20)
    shifts = np.random.default_rng(1).normal(0, SIGMA_MM, (DRAWS, 2))
    near = [shapely.distance(disc, translate(box, *shift)) <= 152.4 for shift in shifts.tolist()]
    return float(np.mean(near))


def _pair() -> Scene:
    box = {"shape": "rectangle", "width_mm": 40, "length_mm": 60}
    pieces = [_piece(0, _circle(32), 0, 0), _piece(1, box, 198.3, 0)]
    return _scene("legion", pieces, _joint(2))


def _units() -> Scene:
    bases = [
        _circle(27),
        {"shape": "oval", "width_mm": 35, "length_mm": 60},
        {"shape": "rectangle", "width_mm": 25, "length_mm": 50},
    ]
    pieces = []
    for k in range(12):
        unit, place = divmod(k, 6)
        x, y = 100 + UNITS_APART_MM * unit + place % 2 * 45, 100 + 60 * (place // 2)
        more = {"heading_deg": 17 * place, "unit": "ab"[unit], "leader": place == 0}
        pieces.append(_piece(k, bases[k % 3], x, y) | more)
    return _scene("legion", pieces, _joint(12))


def _units_loop(scene: Scene) -> float:
    """How often all of unit b lies within two segments of unit a."""
    assert scene.covariance is not None
    draw = np.random.default_rng(1)
    shapes = [*_polygons(scene)]
    near = 0
    for shifts in draw.multivariate_normal(np.zeros(24), scene.covariance.array, FEW_DRAWS):
        moved = [translate(one, *xy) for one, xy in zip(shapes, shifts.reshape(-1, 2), strict=True)]
        ground = shapely.union_all(shapely.buffer(moved[:6], 304.8, quad_segs=48))
        near += ground.covers(shapely.union_all(moved[6:]))
    return near / FEW_DRAWS


def _polygons(scene: Scene) -> Iterator[shapely.Geometry]:
    turns = np.linspace(0, math.tau, 96, endpoint=False)
    for shape in scene.shapes:
        rim = shape.support_points(np.stack([np.cos(turns), np.sin(turns)], -1))
        yield shapely.MultiPoint(rim).convex_hull


def _hall() -> Scene:
    """Pieces between ruins."""
    draw = np.random.default_rng(3)
    ruins = []
    for k in range(6):
        x, y, width, depth = draw.uniform((200, 200, 60, 60), (1200, 600, 160, 160)).tolist()
        corners = [[x, y], [x + width, y], [x + width, y + depth], [x, y + depth]]
        ruins.append({"id": f"ruin{k}", "footprint_mm": corners, "top_z_mm": 80})
    return Scene.from_json(_crowd(20, 1.0).to_json() | {"terrain": ruins})


def _shooters() -> Scene:
    weapon = {"range_in": 12, "piercing": 0, "injury": 0, "long_reload": False}
    shooter = {"player": "one", "stats": {"ranged_weapon": weapon, "defence": 12}}
    pieces = [_piece(0, _circle(32), 400, 400) | shooter]
    for k in range(1, 11):
        turn, far = math.tau * k / 10, 220 + 0.1 * k
        x, y = 400 + far * math.cos(turn), 400 + far * math.sin(turn)
        pieces.append(_piece(k, _circle(32), x, y) | {"player": "two", "stats": {"defence": 12}})
    return _scene("skirmish", pieces, _joint(11))


def _crowd(count: int, sigma_mm: float) -> Scene:
    draw = np.random.default_rng(1)
    pieces = []
    for k in range(count):
        x, y, heading = draw.uniform((0, 0, 0), (1800, 900, 360)).tolist()
        sizes = {"width_mm": 25 + k % 40, "length_mm": 45 + k % 40}
        base = [_circle(25 + k % 40), {"shape": "oval"} | sizes, {"shape": "rectangle"} | sizes]
        pieces.append(_piece(k, base[k % 3], x, y) | {"heading_deg": heading})
    return _scene("legion", pieces, sigma_mm**2 * _joint(count) if sigma_mm else None)


def _circle(diameter_mm: float) -> dict[str, Any]:
    return {"shape": "circle", "diameter_mm": diameter_mm}


def _piece(number: int, base: dict[str, Any], x_mm: float, y_mm: float) -> dict[str, Any]:
    return {"id": f"p{number}", "base": base, "x_mm": x_mm, "y_mm": y_mm}


def _joint(count: int) -> Any:
    shared = np.random.default_rng(2).normal(0, SIGMA_MM, (2 * count, 3))
    return shared @ shared.T + SIGMA_MM**2 / 4 * np.eye(2 * count)


def _scene(game: str, pieces: list[dict[str, Any]], covariance: Any) -> Scene:
    frame: dict[str, Any] = {"schema": "overruler/scene/1", "game": game, "pieces": pieces}
    if covariance is not None:
        order = [piece["id"] for piece in pieces]
        frame["covariance"] = {"order": order, "mm2": covariance.tolist()}
    return Scene.from_json(frame | {"board": {"width_mm": 1800, "height_mm": 900}})
