"""Where a body presses into another, in n draws of all places at once; inf where it does not."""

import numpy as np

from overruler.geometry.batched.outline_sweeps import outline_entry_distances
from overruler.geometry.batched.sweeps import (
    entry_distances,
    first_contact_distances,
    overlap_mask,
    signed_separations,
)
from overruler.geometry.pose import Array
from overruler.geometry.shapes import Shape
from overruler.rules.bodies import Body
from overruler.units import CONTACT_TOLERANCE_MM


def drawn_entries_mm(mover: Body, other: Body, shift: Array, u: Array) -> Array:
    """How far (n,) a body gets along u (n, 2) before it presses into another displaced by `shift`."""
    if len(other.parts) == 1 < len(mover.parts):
        return drawn_entries_mm(other, mover, -shift, -u)
    return np.asarray(np.min([_part_entries(part, other, shift, u) for part in mover.parts], 0))


def _part_entries(part: Shape, other: Body, shift: Array, u: Array) -> Array:
    entries = np.min([entry_distances(part, one, shift, u) for one in other.parts], 0)
    if len(other.parts) > 1:
        rows = np.any([overlap_mask(part, one, shift) for one in other.parts], 0)
        if rows.any():
            entries[rows] = outline_entry_distances(part, other.outline, shift[rows], u[rows])
    return np.asarray(entries)


def drawn_first_contacts_mm(piece: Body, target: Body, shift: Array, u: Array) -> Array:
    """How far (n,) a piece gets along u (n, 2) before it meets a target displaced by `shift`."""
    base = piece.parts[0]
    contacts = np.min([first_contact_distances(base, one, shift, u) for one in target.parts], 0)
    if len(target.parts) > 1:
        gaps = np.min([signed_separations(base, one, shift)[0] for one in target.parts], 0)
        rows = gaps <= CONTACT_TOLERANCE_MM
        if rows.any():
            contacts[rows] = _part_entries(base, target, shift[rows], u[rows])
    return np.asarray(contacts)
