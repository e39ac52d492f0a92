"""Fix files: each entry says what to do and to which piece; what is wrong is named with its entry."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overruler.bases import Base
from overruler.errors import BadInput
from overruler.fixes import (
    CLICK_SIGMA_PX,
    KEYS_BY_ACTION,
    Fix,
    load_fixes,
    next_piece_id,
    read_fixes,
)
from overruler.reading import Node


def read(*entries: Any) -> tuple[Fix, ...]:
    return read_fixes(Node({"schema": "overruler/fix/1", "fix": list(entries)}, "fix.json"))


def test_entries_are_read_in_their_order() -> None:
    move, add, name = read(
        {"do": "move", "id": "p03", "xy_px": [812.5, 604]},
        {
            "do": "add",
            "base": "75x42o",
            "xy_mm": [100, 200],
            "sigma_px": 5,
            "heading_deg": 30,
            "player": "rebels",
        },
        {"do": "name", "id": "p01", "new_id": "luke", "leader": True, "stats": {"size": 2}},
    )
    assert (move.do, move.id, move.xy_px, move.xy_mm, move.sigma_px) == (
        "move",
        "p03",
        (812.5, 604),
        None,
        CLICK_SIGMA_PX,
    )
    assert (add.id, add.base, add.sigma_px, add.labels) == (
        None,
        Base.oval(42, 75),
        5,
        {"player": "rebels"},
    )
    assert name.labels == {"new_id": "luke", "leader": True, "stats": {"size": 2}}


def test_a_base_may_be_a_number() -> None:
    assert [
        fix.base
        for fix in read(*({"do": "resize", "id": "a", "base": b} for b in (27, 28.5, "50")))
    ] == [
        Base.circle(27),
        Base.circle(28.5),
        Base.circle(50),
    ]


def test_json_and_toml_say_the_same(tmp_path: Path) -> None:
    entries: list[dict[str, Any]] = [
        {"do": "stand", "id": "p02", "z_mm": 30},
        {"do": "remove", "id": "p01"},
    ]
    one, other = tmp_path / "fix.JSON", tmp_path / "fix.toml"
    one.write_text(json.dumps({"schema": "overruler/fix/1", "fix": entries}))
    lines = [
        "[[fix]]\n" + "\n".join(f"{k} = {json.dumps(v)}" for k, v in entry.items())
        for entry in entries
    ]
    other.write_text("\n".join(['schema = "overruler/fix/1"', *lines]))
    misnamed = tmp_path / "fix.txt"
    misnamed.write_text(one.read_text())
    with pytest.raises(BadInput, match=r"is JSON: give it a name that ends in \.json"):
        load_fixes(misnamed)
    told = [
        [(fix.do, fix.id, fix.z_mm, fix.sigma_mm) for fix in load_fixes(path)]
        for path in (one, other)
    ]
    assert told[0] == told[1] == [("stand", "p02", 30, 1.0), ("remove", "p01", None, 1.0)]


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"id": "p01"}, "fix[1].do: is missing"),
        ({"do": "delete", "id": "p01"}, "fix[1].do: unknown 'delete'"),
        ({"do": "remove"}, "fix[1].id: is missing"),
        ({"do": "remove", "id": "p01", "xy_mm": [1, 2]}, "fix[1].xy_mm: does not go with remove"),
        ({"do": "move", "id": "p01"}, "fix[1]: move needs one of xy_mm"),
        (
            {"do": "move", "id": "p01", "xy_mm": [1, 2], "xy_px": [1, 2]},
            "fix[1]: move needs one of xy_mm",
        ),
        ({"do": "move", "id": "p01", "xy_px": [1]}, "fix[1].xy_px: expected 2 numbers"),
        (
            {"do": "move", "id": "p01", "xy_mm": [1, 1e9]},
            "fix[1].xy_mm[1]: lies more than 10 km away",
        ),
        (
            {"do": "move", "id": "p01", "xy_px": [1, 2], "sigma_px": 0},
            "fix[1].sigma_px: must be greater than 0",
        ),
        ({"do": "add", "xy_px": [1, 2]}, "fix[1].base: is missing"),
        ({"do": "add", "xy_px": [1, 2], "base": "27 inch"}, "fix[1].base: '27 inch' is no base"),
        ({"do": "add", "xy_px": [1, 2], "base": True}, "fix[1].base: expected text"),
        ({"do": "add", "xy_px": [1, 2], "base": -3}, "fix[1].base: '-3' is no base"),
        ({"do": "add", "xy_px": [1, 2], "base": 27, "kind": "tree"}, "fix[1].kind: unknown 'tree'"),
        ({"do": "resize", "id": "p01"}, "fix[1].base: is missing"),
        ({"do": "stand", "id": "p01"}, "fix[1].z_mm: is missing"),
        ({"do": "stand", "id": "p01", "z_mm": float("nan")}, "fix[1].z_mm: is not a finite number"),
        ({"do": "turn", "id": "p01"}, "fix[1].heading_deg: is missing"),
        ({"do": "name", "id": "p01"}, "fix[1]: says nothing new"),
        ({"do": "name", "id": "p01", "new_id": " "}, "fix[1].new_id: is empty"),
        (
            {"do": "turn", "id": "p01", "heading": 90},
            "fix[1].heading: does not go with turn; known: do, heading_deg, id; did you mean 'heading_deg'?",
        ),
        ("remove p01", "fix[1]: expected an object"),
    ],
)
def test_what_is_wrong_is_named_with_its_entry(entry: Any, said: str) -> None:
    with pytest.raises(BadInput) as refused:
        read({"do": "remove", "id": "p09"}, entry)
    assert str(refused.value).startswith(f"fix.json: {said}")


@pytest.mark.parametrize(
    "document", [{}, {"schema": "overruler/scene/1", "fix": []}, {"schema": "overruler/fix/1"}]
)
def test_another_document_is_no_list_of_fixes(document: Any) -> None:
    with pytest.raises(BadInput, match=r"schema|fix: is missing"):
        read_fixes(Node(document, "fix.json"))


def test_unknown_keys_beside_the_list_are_refused() -> None:
    with pytest.raises(BadInput, match="fixes: unknown key"):
        read_fixes(Node({"schema": "overruler/fix/1", "fix": [], "fixes": []}, "fix.json"))


@given(
    st.sampled_from(sorted(KEYS_BY_ACTION)),
    st.dictionaries(st.sampled_from(sorted(Fix.__dataclass_fields__)), st.none()),
)
def test_values_of_nothing_are_never_taken(do: str, entry: dict[str, None]) -> None:
    with pytest.raises(BadInput):
        read({"id": None} | entry | {"do": do})


@given(
    st.sets(
        st.one_of(st.integers(0, 2000).map(lambda n: f"p{n:02}"), st.text(min_size=1)), max_size=8
    )
)
def test_the_next_id_is_free(taken: set[str]) -> None:
    assert next_piece_id(taken) not in taken


def test_the_next_id_counts_on() -> None:
    assert next_piece_id({"p01", "p12", "luke", "pilot"}) == "p13"
    assert next_piece_id({"p001", "p099"}) == "p100"
    assert next_piece_id(()) == "p01"


def test_photos_count_from_0_and_a_negative_one_is_refused_at_reading() -> None:
    with pytest.raises(BadInput, match=r"fix\[0\]\.photo: is -1: photos count from 0, the first"):
        read({"do": "move", "id": "p01", "xy_px": [1, 2], "photo": -1})


@pytest.mark.parametrize(
    ("photo", "count", "said"),
    [
        (1, 1, r"photo = 1 is the second photo \(0 is the first\); only one is given: name one"),
        (9, 3, r"photo = 9 is photo number 10 \(0 is the first\); only 3 are given: name one"),
    ],
)
def test_a_photo_beyond_those_given_is_named_by_its_place(
    photo: int, count: int, said: str
) -> None:
    (fix,) = read({"do": "move", "id": "p01", "xy_px": [1, 2], "photo": photo})
    with pytest.raises(BadInput, match=rf"^fix.json: fix\[0\]: {said}"):
        fix.check_photo(count)
    fix.check_photo(photo + 1)
