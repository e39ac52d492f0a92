"""How a message names the photos that a calibration has left out."""

from collections.abc import Mapping


def join_reasons(left_out: Mapping[str, str]) -> str:
    """The photos left out, each with its reason, as the end of a message; empty where there are none."""
    return "".join(f"; {name}: {reason}" for name, reason in left_out.items())
