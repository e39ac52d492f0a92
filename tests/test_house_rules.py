"""What a table has settled for itself, beside what a scene says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overruler.house_rules import HouseRules
from overruler.scene import Scene, Table


def scene(game: str = "legion", **state: object) -> Scene:
    return Scene(game, Table(900, 600), (), state=state)


def test_the_houses_rules_are_those_of_the_scenes_game() -> None:
    house = HouseRules(rules={"legion.ranged_in_contact": False, "xwing.nearer_band": False})
    assert house.apply_to(scene()).state == {"settings": {"ranged_in_contact": False}}
    assert house.apply_to(scene("xwing")).state == {"settings": {"nearer_band": False}}


@given(
    st.dictionaries(st.sampled_from("abc"), st.booleans()),
    st.dictionaries(st.sampled_from("abc"), st.booleans()),
)
def test_what_a_scene_chooses_wins_and_all_else_stays(
    house: dict[str, bool], own: dict[str, bool]
) -> None:
    told = HouseRules(rules={f"legion.{name}": chosen for name, chosen in house.items()})
    settled = told.apply_to(scene(settings=own, turn=3))
    assert settled.state == {"settings": {**house, **own}, "turn": 3}
    assert told.apply_to(settled).state == settled.state


@pytest.mark.parametrize("rules", [{}, {"xwing.nearer_band": True}])
def test_a_house_without_rules_for_the_game_leaves_the_scene_alone(rules: dict[str, bool]) -> None:
    bare = scene()
    assert HouseRules(rules=rules).apply_to(bare) is bare


def test_settings_that_are_no_object_are_left_for_the_rules_to_complain_of() -> None:
    assert (
        HouseRules(rules={"legion.ranged_in_contact": False})
        .apply_to(scene(settings=3))
        .state["settings"]
        == 3
    )
