"""How sure true lines are where heights are in doubt: by drawing all heights together. n draws."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from overruler.records import PieceRecord, TerrainRecord
from overruler.rules.eye_lines import HeightErrors
from overruler.rules.sampled.sightlines import Displacements, SightUncertainty
from overruler.rules.sightlines import Sight
from overruler.scene import Piece, Scene

if TYPE_CHECKING:
    from overruler.geometry.batched.visibility import Mask
    from overruler.geometry.pose import Array

HEIGHT_DRAWS = 256
"""Draws of all heights together. Each is looked at with its own part of the draws of places."""
SHUFFLE_SEED = 42
"""Seed of the order in which draws of places meet draws of heights."""


@dataclass(frozen=True)
class HeightUncertainty:
    """How sure a sight and its cover are, heights and places together."""

    sight: Sight

    @property
    def scene(self) -> Scene:
        return self.sight.scene

    @cached_property
    def drawn(self) -> tuple[SightUncertainty, ...]:
        """The sight with each of the drawn heights."""
        return tuple(
            SightUncertainty(replace(self.sight, height_errors=errors))
            for errors in draw_height_errors(self.scene)
        )

    @cached_property
    def indices(self) -> set[int]:
        """The pieces whose displacements matter."""
        return set().union(*(one.indices for one in self.drawn))

    @cached_property
    def settled_clear(self) -> bool | None:
        """Whether some line is free; None where that is uncertain."""
        return _common_answer([one.settled_clear for one in self.drawn])

    @cached_property
    def settled_cover(self) -> bool | None:
        """Whether the target has cover; None where that is uncertain."""
        return _common_answer([one.settled_cover for one in self.drawn])

    def clear_in_draws(self, shifts: Displacements) -> "Mask":
        """Whether some line is free in each draw (n,)."""
        import numpy as np

        free = np.empty(len(shifts[None]), bool)
        for one, rows in zip(self.drawn, _draws_of_heights(len(free)), strict=True):
            free[rows] = one.clear_in_draws(_some_draws(shifts, rows))
        return free

    def cover_in_draws(self, shifts: Displacements) -> "Mask":
        """Whether the target has cover in each draw (n,)."""
        import numpy as np

        covered = np.empty(len(shifts[None]), bool)
        for one, rows in zip(self.drawn, _draws_of_heights(len(covered)), strict=True):
            covered[rows] = one.cover_in_draws(_some_draws(shifts, rows))
        return covered


def sight_uncertainty(sight: Sight) -> SightUncertainty | HeightUncertainty:
    """How sure a sight is, by places alone or by heights too."""
    if sight.plane is not None and any(height_sigmas_mm(sight.scene).values()):
        return HeightUncertainty(sight)
    return SightUncertainty(sight)


def height_sigmas_mm(scene: Scene) -> dict[str, float]:
    """The σ of each height that has its own; that of a piece on terrain with a σ is the terrain's."""
    sigmas: dict[str, float] = {}
    for index, terrain in enumerate(scene.terrain):
        record = TerrainRecord.from_json(terrain.extra, f"terrain[{index}]")
        sigmas[terrain.id] = record.sigma_mm or 0.0
    for index, piece in enumerate(scene.pieces):
        own = PieceRecord.from_json(piece.extra, f"pieces[{index}]")
        if not sigmas.get(own.on or ""):
            sigmas[piece.id] = own.z_sigma_mm or own.sigma_z_mm
    return sigmas


def draw_height_errors(scene: Scene) -> list[HeightErrors]:
    """Equally likely errors of all heights; pieces on terrain move with its top."""
    import numpy as np

    from overruler.geometry.batched.draws import draw_gaussian

    doubtful = {name: sigma for name, sigma in height_sigmas_mm(scene).items() if sigma}
    covariance = np.diag(np.square([*doubtful.values()]))
    drawn = [
        dict(zip(doubtful, row, strict=True))
        for row in draw_gaussian(covariance, HEIGHT_DRAWS).tolist()
    ]
    carriers = {piece.id: _carrier(piece) for piece in scene.pieces}
    carried = {name: on for name, on in carriers.items() if on in doubtful and name not in doubtful}
    return [errors | {name: errors[on] for name, on in carried.items()} for errors in drawn]


def _carrier(piece: Piece) -> str:
    """The id of what a piece stands on; empty for the board."""
    return PieceRecord.from_json(piece.extra).on or ""


def _common_answer(answers: list[bool | None]) -> bool | None:
    return answers[0] if len(set(answers)) == 1 else None


def _draws_of_heights(count: int) -> "list[Array]":
    """The numbers of the draws of places that each draw of heights is looked at with."""
    import numpy as np

    shuffled = np.random.default_rng(SHUFFLE_SEED).permutation(count)
    return [np.sort(rows) for rows in np.array_split(shuffled, HEIGHT_DRAWS)]


def _some_draws(shifts: Displacements, rows: "Array") -> Displacements:
    return {index: drawn[rows] for index, drawn in shifts.items()}
