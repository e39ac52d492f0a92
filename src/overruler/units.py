"""Conversion between inches and millimetres.

Only the rules and the display use inches; everything else is in millimetres.
"""

from collections.abc import Mapping
from typing import Any

MM_PER_INCH = 25.4
"""Exact by definition (international inch, 1959)."""

MILLIMETRES, INCHES = "mm", "in"
UNITS = (MILLIMETRES, INCHES)
"""The units that lengths are told in; files and JSON are always in mm."""

SIGMAS_95 = 1.96
"""Half-width of the 95 % interval of a normal distribution, in σ."""

CONTACT_TOLERANCE_MM = 1e-6
"""Lengths that differ by no more are equal: a distance within it of a line touches the line."""


def mm_from_inches(length_in: float) -> float:
    """Convert inches to millimetres."""
    return length_in * MM_PER_INCH


def inches_from_mm(length_mm: float) -> float:
    """Convert millimetres to inches."""
    return length_mm / MM_PER_INCH


def told_unit(state: Mapping[str, Any]) -> str:
    """The unit that a scene's `state.unit` wants lengths to be told in; mm where it wants none."""
    return INCHES if state.get("unit") == INCHES else MILLIMETRES


def format_number(length_mm: float, unit: str, mm_digits: int = 1) -> str:
    """Format a length as a number in a unit: with `mm_digits` decimals in mm, one more in inches."""
    if unit == INCHES:
        return f"{inches_from_mm(length_mm):.{mm_digits + 1}f}"
    return f"{length_mm:.{mm_digits}f}"


def format_nominal(length_mm: float, unit: str) -> str:
    """Format a length that is exact by definition, without decimals that say nothing."""
    if unit == INCHES:
        return f"{round(inches_from_mm(length_mm), 3):g} in"
    return f"{length_mm:g} mm"


def format_length(length_mm: float, reach_mm: float, in_inches: bool) -> str:
    """Format a length with the half-width of its 95 % interval, which is omitted where it is 0."""
    unit, digits, length, reach = "mm", 1, float(length_mm), float(reach_mm)
    if in_inches:
        unit, digits = "in", 2
        length, reach = inches_from_mm(length_mm), inches_from_mm(reach_mm)
    text = f"{length:.{digits}f}"
    if not reach_mm:
        return f"{text} {unit}"
    return f"{text} ± {max(reach, 10**-digits):.{digits}f} {unit} (95 %)"
