"""What goes over the camera's picture, as SVG in the camera's own pixels: range bands, lines, the ruling in words."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from overruler.apps.web.drawn import lines_of, view_of
from overruler.picture.banner import SAFE_SHARE, banner
from overruler.picture.lettering import FAMILY
from overruler.picture.painters import base, measured_line, outline, range_lines
from overruler.picture.story import SEGMENT_MM, Claim, claim
from overruler.picture.svg import BLACK, WHITE, element, group, path, path_data, plate
from overruler.picture.view import View, ring
from overruler.rules import ask, game_of
from overruler.scene import Piece, Scene
from overruler.units import inches_from_mm

LAYERS = ("bands", "lines", "verdict")
"""From the back to the front."""
FINE = 360
ZOOM_SHARE = 0.14
"""The narrowest part of the picture that is shown large."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the caster wants on air."""

    pair: tuple[str, str] | None = None
    bands: tuple[str, ...] = ()
    """The pieces that have range lines round them."""


@dataclass(frozen=True, slots=True)
class Graphics:
    """What can be on air of that."""

    layers: dict[str, str]
    ruling: dict[str, Any] | None = None
    box_px: tuple[float, float, float, float] | None = None
    """x, y, width and height of the picture round the gap, for showing it large."""


def graphics(scene: Scene, wanted: Wanted, standing: frozenset[str]) -> Graphics:
    """The graphics that hold now: nothing about a piece that does not stand where it was measured."""
    view = view_of(scene)
    pieces = {piece.id: piece for piece in scene.pieces if piece.id in standing}
    layers = {"bands": group(bands(scene, view, pieces[name]) for name in wanted.bands if name in pieces)}
    if wanted.pair is None or not set(wanted.pair) <= set(pieces):
        return Graphics(layers)
    told = ruled(scene, wanted.pair)
    ends = [pieces[name] for name in wanted.pair]
    ruler = "" if wanted.pair[0] in wanted.bands else range_lines(view, told)  # its lines are there already
    on_table = [ruler, *(base(view, piece, told.look) for piece in ends), measured_line(view, told)]
    layers |= {"lines": group(on_table), "verdict": _words(view, told)}
    return Graphics(layers, _said(told), _box(view, told))


def ruled(scene: Scene, pair: tuple[str, str]) -> Claim:
    """The range between two pieces, or their distance where the game has no ruler."""
    name = "range" if game_of(scene.game).ruler else "distance"
    return claim(scene, ask(scene, {"question": name, "from": pair[0], "to": pair[1]}))


def bands(scene: Scene, view: View, piece: Piece) -> str:
    """Every range line round a base, each with its number where the picture has room for it."""
    segment = scene.ruler.segment_mm if scene.ruler else SEGMENT_MM.get(scene.game)
    parts = []
    for line_mm in lines_of(scene):
        places = view.px(ring(piece.shape, line_mm, steps=FINE), piece.z_mm)
        closed = np.concatenate([places, places[:1]])
        parts += [
            path(closed, stroke=BLACK, stroke_width=4.2 * view.unit, stroke_opacity=0.6),
            path(closed, stroke=WHITE, stroke_width=1.9 * view.unit),
            *_numbers(view, places, f"{line_mm / segment:.0f}" if segment else f"{inches_from_mm(line_mm):g} in"),
        ]
    return group((*parts, base(view, piece)))


def _numbers(view: View, places: np.ndarray[Any, np.dtype[np.float64]], name: str) -> list[str]:
    border = SAFE_SHARE * max(view.size_px)
    shown = [place for place in places[:: FINE // 8] if view.inside(place[None], border)]
    return [plate(name, float(x), float(y), 11 * view.unit, edge=BLACK) for x, y in shown[::2]]


def _words(view: View, told: Claim) -> str:
    plate_ = banner([told], view.size_px)
    border = SAFE_SHARE * np.array(view.size_px)
    return plate_.drawn(float(border[0]), float(view.size_px[1] - border[1] - plate_.high))


def _said(told: Claim) -> dict[str, Any]:
    names = [piece.id for piece in told.pieces]
    headline = told.headline.split(": ", 1)[-1]
    measure = {"distance_mm": round(told.distance_mm, 3), "sigma_mm": round(told.sigma_mm, 3)}
    return {"between": names, "headline": headline, "detail": told.detail, "word": told.look.word, **measure}


def _box(view: View, told: Claim) -> tuple[float, float, float, float]:
    """The part of the picture round the gap, of the picture's own shape."""
    ends = view.px(np.stack([told.from_mm, told.to_mm]), told.z_mm)
    size = np.array(view.size_px, float)
    share = min(1.0, max(ZOOM_SHARE, 1.8 * float((np.ptp(ends, axis=0) / size).max())))
    wide = share * size
    low = np.clip(ends.mean(0) - wide / 2, 0, size - wide)
    return float(low[0]), float(low[1]), float(wide[0]), float(wide[1])


# --- pieces to click, and pictures without a browser ---


def bases(scene: Scene) -> dict[str, dict[str, Any]]:
    """Each piece's outline and middle in the camera's pixels."""
    view = view_of(scene)
    return {
        piece.id: {
            "d": path_data(outline(view, piece), closed=True),
            "center_px": [round(float(v), 1) for v in view.px([piece.x_mm, piece.y_mm], piece.z_mm)],
            "base": piece.base.name,
        }
        for piece in scene.pieces
    }


def document(layers: Sequence[str], size_px: tuple[int, int]) -> str:
    """Layers as one drawing."""
    width, height = size_px
    size = {"viewBox": f"0 0 {width} {height}", "width": width, "height": height}
    return element("svg", *(layers or [""]), xmlns="http://www.w3.org/2000/svg", font_family=FAMILY, **size)
