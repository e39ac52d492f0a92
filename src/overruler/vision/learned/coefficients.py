"""Read coefficients that were fitted with a network: JSON files beside the networks' weights.

A file holds `coefficients` and the `features` that they belong to, in order, and where they come
from: `date`, `data` and `command` (null where no command is recorded).
"""

import json

from overruler.vision.learned.inference import WEIGHTS


def load_coefficients(family: str) -> dict[str, float]:
    """Read the coefficients of a model family, by feature and in the file's order."""
    fitted = json.loads((WEIGHTS / f"{family}.json").read_text("utf-8"))
    pairs = zip(fitted["features"], fitted["coefficients"], strict=True)
    return {feature: float(coefficient) for feature, coefficient in pairs}
