"""From a spec to a photo and its truth."""

import json
from collections.abc import Mapping

import cv2
import numpy as np
from rich.progress import Progress

from synthetic.camera import View, over_board
from synthetic.develop import camera_style, develop, jpeg
from synthetic.traced.board_file import board_toml
from synthetic.traced.expose import EFFORT, ROUGH, expose
from synthetic.traced.spec import Spec
from synthetic.traced.table import build
from synthetic.traced.tracer import Tracer
from synthetic.traced.truth import truth


def photograph(name: str, spec: Spec, scale: float = 1) -> dict[str, bytes]:
    """One table's files by their endings: `.jpg`, `.json` (the truth) and `.toml` (the board file).

    With a scale below 1 fewer pixels are rendered, with four rays each, and blown up to the photo's size.
    """
    rng = np.random.default_rng([spec.seed, 3])
    view = over_board(spec.kind, spec.size_mm, spec.tilt_deg, rng)
    table = build(spec, _texel_mm(spec, view))
    tracer = Tracer(table.parts, table.lights)
    habits = camera_style(spec.kind, spec.light in ("low", "lamp"), rng)
    with Progress(transient=True) as bar:
        task = bar.add_task(f"{name} {spec.game} {spec.kind}", total=1.0)
        effort = EFFORT[spec.kind] if scale == 1 else ROUGH
        light = expose(
            tracer, view.resized(scale), effort, lambda share: bar.update(task, completed=share)
        )
    if scale != 1:
        light = np.asarray(
            cv2.resize(light, view.size_px, interpolation=cv2.INTER_CUBIC).clip(0), np.float32
        )
    picture = develop(light, habits, rng)
    facts = truth(f"{name}.jpg", table, view, tracer, habits, scale)
    board = board_toml(table, name.replace("_", " "))
    return {
        ".jpg": jpeg(picture, view, habits.jpeg_quality),
        ".json": _lines(facts),
        ".toml": board.encode(),
    }


def _texel_mm(spec: Spec, view: View) -> float:
    """Prints are a little finer than the photo."""
    middle = np.array([*spec.size_mm, 0]) / 2
    return max(0.3, 0.6 * float(view.camera.mm_per_px(middle)))


def _lines(facts: Mapping[str, object]) -> bytes:
    """JSON with a line for each key."""
    rows = ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in facts.items())
    return f"{{\n{rows}\n}}\n".encode()
