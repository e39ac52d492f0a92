"""Coefficients fitted on rendered tables, kept as JSON beside the networks' weights."""

import json

from overruler.vision.learned.inference import WEIGHTS


def load_coefficients(name: str) -> dict[str, float]:
    """Return the coefficients of `weights/NAME.json` by feature, in the file's order.

    The file lists "features" and "coefficients" and names their origin: "date", "data", "command".
    """
    record = json.loads((WEIGHTS / f"{name}.json").read_text(encoding="utf-8"))
    return dict(zip(record["features"], record["coefficients"], strict=True))
