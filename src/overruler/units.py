"""Inches live here, in the rules and on the screen; everything else is millimetres."""

MM_PER_INCH = 25.4
"""Exactly, by definition (international inch, 1959)."""

CONTACT_TOLERANCE_MM = 1e-6
"""Two lengths this close are the same length: a distance within it of a line touches the line."""


def mm_from_inches(length_in: float) -> float:
    """Millimetres in `length_in` inches."""
    return length_in * MM_PER_INCH


def inches_from_mm(length_mm: float) -> float:
    """Inches in `length_mm` millimetres."""
    return length_mm / MM_PER_INCH


def format_length(length_mm: float, reach_mm: float, in_inches: bool) -> str:
    """A length for people, with its 95 % to either side; an exact one, whose reach is 0, without."""
    unit, digits, shown = ("in", 2, inches_from_mm) if in_inches else ("mm", 1, float)
    doubt = f" ± {max(shown(reach_mm), 10**-digits):.{digits}f}" if reach_mm else ""
    return f"{shown(length_mm):.{digits}f}{doubt} {unit}{' (95 %)' if reach_mm else ''}"
