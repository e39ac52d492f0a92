"""Damaged photos and films give pictures or one line; the long run is tools/evaluate."""

import pytest

from evaluate.fuzz_pictures import MAX_S, run_batch


@pytest.mark.parametrize("seed", [11, 12])
def test_damaged_files_give_pictures_or_one_line(seed: int) -> None:
    pytest.importorskip("av", reason="films need PyAV")
    found = list(run_batch(seed, 60))
    assert [trace for _, (what, _, trace) in found if what == "broken"] == []
    assert max(spent_s for _, (_, spent_s, _) in found) < MAX_S
    assert {what for _, (what, _, _) in found} == {"read", "refused"}
