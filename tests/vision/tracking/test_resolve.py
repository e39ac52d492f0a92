"""What has come to rest: who stands where it stood, and who does not."""

from collections import deque
from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from overruler.bases import Base
from overruler.detections import Detection
from overruler.frame import Frame, Shot
from overruler.geometry.pose import Array
from overruler.report import Report
from overruler.vision.tracking.change_detection import BLOCK_PX, block_means, build_pyramid
from overruler.vision.tracking.piece_track import MIN_IN_PLACE_SHARE, MIN_SEEN_SHARE, PieceTrack
from overruler.vision.tracking.resolve import MIN_STAYED_SHARE, MUCH_CHANGED_SHARE, resolve_changes
from overruler.vision.tracking.table_state import TableState
from synthetic.flat_table import Plinth
from tests.tables import photo
from tests.vision.tracking.test_redetect import AT, CAMERA, FAINT, Nobody, table

SIZE_MM = 70.0


class Blind(Nobody):
    def look(self, frame: Frame) -> Report:
        raise NotImplementedError

    def redetect_bases(
        self, frame: Frame, report: Report, bases: object, within_mm: Array | None
    ) -> tuple[Detection, ...]:
        """No base is seen."""
        return ()


def later(
    left: float, shade: float = 1.0, beyond: float | None = None
) -> tuple[TableState, PieceTrack]:
    """A table on which one base is known, a second after something has come to rest, and that base: of it, what lies
    more than `left` radii to the right of its middle is bare mat now, or only in a shade of its own, `beyond`.
    """
    watched = table(SIZE_MM)
    base, pixel = Base.circle(SIZE_MM), CAMERA.project(np.array([*AT, 0.0]))
    here = Detection(
        base, AT, 0.0, 0.0, np.eye(2), np.zeros((2, 15)), 1.0, 1.0, pixel, np.stack([pixel] * 3)
    )
    held = PieceTrack.of("p01", here, watched.shot.grey, CAMERA)
    watched.tracks.append(held)
    seen, bare = (
        photo(CAMERA, [Plinth(float(AT[0]), float(AT[1]), SIZE_MM, rim=FAINT)]).pixels.copy(),
        photo(CAMERA, []).pixels,
    )
    column = round(float(CAMERA.project(np.array([AT[0] + left * SIZE_MM / 2, AT[1], 0.0]))[0]))
    if beyond is None:
        seen[:, column:] = bare[:, column:]
    else:
        shaded = (
            slice(round(float(pixel[1])) - 80, round(float(pixel[1])) + 80),
            slice(column, column + 120),
        )
        seen[shaded] = seen[shaded] * beyond
    shot = Shot.of(Frame(np.asarray(seen * shade, np.uint8), "later", time_s=2.0))
    watched.shots = deque([shot])
    for time_s in (1.0, 2.0):
        watched.changes.update(block_means(build_pyramid(shot.grey)), time_s)
    return watched, held


def test_a_piece_whose_place_looks_in_part_like_it_has_gone_all_the_same() -> None:
    watched, held = later(left=0.13)
    watched.changes.last_moved_s[watched.blocks(AT + np.array([-200.0, 0.0]), 0.0, 5.0)] = (
        2.0  # a hand is still about
    )
    assert (
        MIN_IN_PLACE_SHARE < held.match_at_rest(watched.shot.grey, CAMERA).share < MIN_STAYED_SHARE
    )
    resolve_changes(watched, Blind())
    assert held.away_s is not None


def test_a_piece_on_part_of_which_a_shade_has_come_has_not_gone() -> None:
    watched, held = later(left=0.4, beyond=0.8)
    watched.changes.last_moved_s[watched.blocks(AT + np.array([-200.0, 0.0]), 0.0, 5.0)] = (
        2.0  # a hand is still about
    )
    changed = watched.covered_share(
        watched.changed_blocks, held.rest_detection.xy_mm[None], 0.0, held.radius_mm
    )[0]
    assert 0.2 < changed < MUCH_CHANGED_SHARE
    assert (
        MIN_IN_PLACE_SHARE < held.match_at_rest(watched.shot.grey, CAMERA).share < MIN_STAYED_SHARE
    )
    resolve_changes(watched, Blind())
    assert held.away_s is None


def test_a_piece_in_the_shade_has_not_gone() -> None:
    watched, held = later(left=2.0, shade=0.85)
    resolve_changes(watched, Blind())
    assert held.away_s is None


def test_what_has_come_beside_a_piece_is_looked_at_once_the_hand_has_left() -> None:
    watched, held = later(left=2.0)
    beside = watched.blocks(AT + np.array([held.radius_mm + 15.0, 0.0]), 0.0, 10.0)
    watched.changes.changed[beside] = True
    watched.changes.last_moved_s[watched.blocks(AT + np.array([-200.0, 0.0]), 0.0, 5.0)] = (
        2.0  # a hand is still about
    )
    resolve_changes(watched, Blind())
    assert watched.changed_blocks[beside].all()


class Sees(Blind):
    """Sees one base, wherever it is asked."""

    def __init__(self, one: Detection) -> None:
        self._one = one

    def redetect_bases(
        self, frame: Frame, report: Report, bases: object, within_mm: Array | None
    ) -> tuple[Detection, ...]:
        return (self._one,)


TO = AT + np.array([90.0, -20.0])


def arrived(seen_there: float) -> tuple[TableState, PieceTrack, Detection]:
    """A table whose one piece was followed to `TO`, where its look is seen so well and no block has changed."""
    watched, held = later(left=-2.0)
    pixel = CAMERA.project(np.array([*TO, 0.0]))
    there = replace(
        held.rest_detection, xy_mm=TO, center_px=pixel, outline_px=np.stack([pixel] * 3)
    )
    around = watched.blocks(TO, 0.0, SIZE_MM)
    watched.changes.background[around], watched.changes.changed[around] = (
        watched.changes.last_means[around],
        False,
    )
    beside = watched.blocks(TO, 0.0, held.radius_mm)
    watched.changes.changed[beside[0].start, beside[1].start] = (
        True  # a corner of the square round it
    )
    held.trail, held.place_mm, held.seen_share = (
        [(0.5, *AT.tolist()), (0.9, *TO.tolist())],
        TO.copy(),
        seen_there,
    )
    return watched, held, there


def test_a_piece_that_was_seen_to_go_has_come_though_the_mat_is_as_bright_as_it() -> None:
    watched, held, there = arrived(0.95)
    moves = resolve_changes(watched, Sees(there))
    assert [move.to_mm for move in moves] == [tuple(TO.tolist())]
    assert held.away_s is None


def test_what_stood_there_all_along_is_no_piece_that_has_come() -> None:
    watched, held, there = arrived(MIN_SEEN_SHARE)
    assert resolve_changes(watched, Sees(there)) == ()
    assert held.away_s is not None


@given(st.floats(100, 700), st.floats(100, 400), st.floats(12, 50))
@settings(max_examples=40)
def test_a_base_is_covered_by_what_hides_it_and_not_by_what_lies_round_it(
    x: float, y: float, radius: float
) -> None:
    watched, at = BARE, np.array([x, y])
    rows, columns = np.indices(watched.on_table.shape)
    middles = np.stack([columns, rows], -1) * BLOCK_PX + (BLOCK_PX - 1) / 2
    away = np.hypot(*(CAMERA.unproject(middles.reshape(-1, 2).astype(float)) - at).T).reshape(
        rows.shape
    )
    diagonal = BLOCK_PX * np.sqrt(2) * float(CAMERA.mm_per_px(np.array([*at, 0.0])))
    assert (
        watched.covered_share(np.asarray(away < 1.2 * radius + diagonal), at[None], 0.0, radius)[0]
        == 1
    )
    assert (
        watched.covered_share(np.asarray(away > 1.2 * radius + diagonal), at[None], 0.0, radius)[0]
        == 0
    )
    assert watched.covered_share(np.asarray(rows >= 0), np.zeros((0, 2)), 0.0, radius).shape == (0,)


BARE = table(SIZE_MM)
