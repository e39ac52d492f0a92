"""What is true of a rendered photo, as JSON."""

from collections.abc import Sequence

import numpy as np

from overruler.pieces import Grid
from synthetic.arrays import Array
from synthetic.camera import View
from synthetic.develop import Style
from synthetic.things.markers import Marker
from synthetic.things.pieces import Piece, distance_mm
from synthetic.things.props import Prop
from synthetic.things.rulers import Ruler
from synthetic.things.terrain import Terrain
from synthetic.traced.armies import all_distances
from synthetic.traced.embree import Solid
from synthetic.traced.table import Table
from synthetic.traced.tracer import Tracer

Json = dict[str, object]
RIM_RAYS = 144
"""Rays a rim."""


def truth(name: str, table: Table, view: View, tracer: Tracer, style: Style, scale: float) -> Json:
    """Everything about a photo; lengths in mm to 1e-4 or better, pixels to 1e-4."""
    spec, (width, height) = table.spec, view.size_px
    facts: Json = {
        "image": name,
        "width": width,
        "height": height,
        "tags": tags(table),
        "difficulty": spec.difficulty,
    }
    facts |= {"seed": spec.seed, "camera": _camera(view)}
    facts["board"] = {"width_mm": spec.size_mm[0], "height_mm": spec.size_mm[1], "mat": spec.mat}
    facts["markers"] = _markers(table, view, tracer)
    facts["pieces"] = [_piece(p, view, tracer) for p in table.pieces]
    facts["rulers"] = [_ruler(r, view) for r in table.rulers]
    facts["terrain"] = [_terrain(t) for t in table.terrain]
    facts["props"] = [_prop(p) for p in table.props]
    if table.grid:
        facts["grid"] = _grid(table.grid)
    facts["critical_pairs"] = _critical(table)
    facts["distances"] = [
        {"a": a, "b": b, "mm": round(mm, 4)} for a, b, mm in all_distances(table.pieces)
    ]
    return facts | {"photo": {"render_scale": scale, **_photo(style)}}


def _photo(style: Style) -> Json:
    return {
        "blur_sigma_px": style.blur_px,
        "jpeg_quality": style.jpeg_quality,
        "sharpened": bool(style.sharpen),
        "fringe": style.fringe,
        "noise": round(style.noise, 4),
        "contrast": round(2 * style.contrast, 3),
    }


def _markers(table: Table, view: View, tracer: Tracer) -> Json:
    spec, items = table.spec, [_marker(m, view, tracer) for m in table.markers]
    return {
        "dictionary": spec.dictionary,
        "size_mm": spec.marker_mm,
        "layout": spec.layout,
        "items": items,
    }


def _terrain(one: Terrain) -> Json:
    outline = _list(one.footprint_mm, 2)
    return {
        "kind": one.kind,
        "footprint_mm": outline,
        "base_z_mm": 0.0,
        "top_z_mm": round(one.top_mm, 2),
    }


def tags(table: Table) -> list[str]:
    """Words to pick photos by."""
    spec = table.spec
    kinds = {p.shape.type for p in table.pieces}
    words = {
        "tilted": spec.tilt_deg > 15,
        "rulers": bool(table.rulers),
        "hill": any(p.z_mm > 0 for p in table.pieces),
        "free_markers": spec.layout == "free",
        "clear_bases": any(p.stand.rim == "clear" for p in table.pieces),
        "oval": "oval" in kinds,
        "square": "rectangle" in kinds,
        "contact": any(mm == 0 for _, _, mm in all_distances(table.pieces)),
        spec.dictionary: spec.dictionary != "DICT_4X4_50",
    }
    return [
        spec.game,
        spec.mat,
        spec.kind,
        spec.light,
        *(word for word, holds in words.items() if holds),
    ]


def _camera(view: View) -> Json:
    camera = view.camera
    return {
        "matrix": camera.matrix.tolist(),
        "distortion": camera.distortion.tolist(),
        "rotation": camera.T_camera_board.rotation.tolist(),
        "translation_mm": camera.T_camera_board.translation_mm.tolist(),
        "height_mm": round(float(camera.center_mm[2]), 2),
        "tilt_deg": view.tilt_deg,
        "kind": view.kind,
    }


def _marker(marker: Marker, view: View, tracer: Tracer) -> Json:
    steps = (np.arange(11) + 0.5) / 11
    return {
        "id": marker.id,
        "corners_mm": _list(marker.corners_mm, 6),
        "corners_px": _list(view.camera.project(marker.corners_mm), 4),
        "visible_fraction": round(_seen(_within(marker.corners_mm, steps), view, tracer), 3),
        "quiet_visible_fraction": round(_seen(_within(marker.card_mm, steps), view, tracer), 3),
    }


def _within(corners: Array, steps: Array) -> Array:
    """Points (N, 3) in a quadrilateral (4, 3)."""
    u, v = (g.reshape(-1, 1) for g in np.meshgrid(steps, steps))
    a, b, c, d = corners
    return np.asarray((a * (1 - u) + b * u) * (1 - v) + (d * (1 - u) + c * u) * v + [0, 0, 0.05])


def _seen(points: Array, view: View, tracer: Tracer) -> float:
    inside = view.inside(view.camera.project(points))
    return float(np.mean(inside & ~tracer.solid.hides(points, view.camera.center_mm)))


def _piece(piece: Piece, view: View, tracer: Tracer) -> Json:
    place = {
        "x_mm": piece.x_mm,
        "y_mm": piece.y_mm,
        "z_mm": piece.z_mm,
        "heading_deg": piece.heading_deg,
    }
    return {
        "id": piece.id,
        "shape": piece.shape.truth(),
        **{key: round(value, 5) for key, value in place.items()},
        "base_height_mm": round(piece.stand.height_mm, 3),
        "top_diameter_mm": round(piece.stand.top_mm, 3),
        "center_px": _list(view.camera.project([piece.x_mm, piece.y_mm, piece.z_mm]), 4),
        **_sight(piece, view, tracer),
        "unit": piece.unit,
        "player": piece.player,
        "leader": piece.leader,
        "game": piece.game,
        "rim": piece.stand.rim,
        "base_style": piece.stand.style,
        "topping": piece.stand.topping,
        "figure": piece.figure,
    }


def _sight(piece: Piece, view: View, tracer: Tracer) -> Json:
    """How much of its rim the camera sees."""
    eye = view.camera.center_mm
    rim, outward = piece.rim_mm(RIM_RAYS)
    rim = (
        rim + outward * 0.03 + [0, 0, 0.03]
    )  # off the surface, so that a ray does not meet what it leaves
    inside = view.inside(view.camera.project(rim))
    facing = ~Solid(piece.stand.parts[:2]).hides(rim, eye)
    seen = inside & facing & ~tracer.solid.hides(rim, eye)
    top = piece.top_rim_mm(RIM_RAYS) + outward * 0.03 + [0, 0, 0.03]
    top_seen = view.inside(view.camera.project(top)) & ~tracer.solid.hides(top, eye)
    return {
        "visible_rim": round(float(seen.sum() / max(int(facing.sum()), 1)), 3),
        "visible_rim_total": round(float(seen.mean()), 3),
        "visible_top_rim": round(float(top_seen.mean()), 3),
        "in_frame": round(float(inside.mean()), 3),
    }


def _ruler(ruler: Ruler, view: View) -> Json:
    pixels = view.camera.project(
        np.column_stack([ruler.path_mm, np.full(len(ruler.path_mm), ruler.z_mm)])
    )
    return {
        "kind": ruler.kind,
        "segment_mm": ruler.segment_mm,
        "segments": ruler.segments,
        "width_mm": ruler.width_mm,
        "start_mm": _list(ruler.path_mm[0], 4),
        "end_mm": _list(ruler.path_mm[-1], 4),
        "joints_mm": _list(ruler.path_mm[1:-1], 4),
        "z_mm": ruler.z_mm,
        "start_px": _list(pixels[0], 4),
        "end_px": _list(pixels[-1], 4),
        "joints_px": _list(pixels[1:-1], 4),
    }


def _prop(prop: Prop) -> Json:
    x, y = prop.outline_mm.mean(0)
    place: Json = {"kind": prop.kind, "x_mm": round(float(x), 2), "y_mm": round(float(y), 2)}
    return place | ({"diameter_mm": prop.diameter_mm} if prop.diameter_mm else {})


def _critical(table: Table) -> Sequence[Json]:
    pieces = {p.id: p for p in table.pieces}
    return [
        {"a": a, "b": b, "boundary_mm": line, "mm": round(distance_mm(pieces[a], pieces[b]), 4)}
        for a, b, line in table.critical
    ]


def _grid(grid: Grid) -> Json:
    return {
        "type": "hex",
        "orientation": grid.orientation,
        "size_mm": grid.size_mm,
        "origin_mm": list(grid.origin_mm),
    }


def _list(values: Array, digits: int) -> object:
    return np.round(np.asarray(values, float), digits).tolist()
