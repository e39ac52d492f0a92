"""The form of names while other desks name the same pieces: nobody's word is told back as an older one."""

from typing import TYPE_CHECKING, Any

import pytest

from tests.apps.web.live.test_app import home as home
from tests.apps.web.live.test_app import page as page
from tests.apps.web.live.test_app import table as table
from tests.apps.web.live.test_desk import fix
from tests.apps.web.live.test_desk_menu import FIXES, pick
from tests.apps.web.live_table import until
from tests.chromium import browser as browser
from tests.chromium import needs_browser

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = needs_browser


@pytest.fixture
def form(page: "Page", home: str) -> "Page":
    """A desk on which two pieces of the Guards are chosen."""
    for name in ("p01", "p02"):
        fix(home, named(name, unit="Guards", player="red", leader=name == "p01"))
    page.goto(f"{home}/control")
    page.wait_for_selector("[data-id=p02]")
    page.click("[data-mode=units]")
    for name in ("p01", "p02"):
        pick(page, name)
    until(lambda: field(page, "Unit").input_value() == "Guards")
    return page


def named(name: str, **labels: Any) -> dict[str, Any]:
    return {"do": "name", "id": name, **labels}


def field(page: "Page", label: str) -> "Locator":
    return page.get_by_label(label, exact=True)


def test_the_form_follows_what_another_desk_names(form: "Page", home: str) -> None:
    field(form, "Player").fill("Anna")
    fix(home, named("p01", unit="Rangers", leader=False), named("p02", unit="Rangers", leader=True))
    until(lambda: field(form, "Unit").input_value() == "Rangers")
    until(lambda: form.locator("#editing select").input_value() == "p02")
    assert field(form, "Player").input_value() == "Anna"  # nothing is taken from who types
    with form.expect_request(FIXES) as asked:
        form.click("#editing >> text=Save")
    told = asked.value.post_data_json
    assert told
    assert {(one["unit"], one["player"]) for one in told["fix"]} == {("Rangers", "Anna")}
    assert [one["leader"] for one in told["fix"]] == [False, True]


def test_a_piece_that_another_desk_removes_is_chosen_no_longer(form: "Page", home: str) -> None:
    field(form, "Player").fill("Anna")
    fix(home, {"do": "remove", "id": "p01"})
    until(lambda: form.inner_text("#editing .next") == "p02")
    assert form.locator("#editing option").all_inner_texts() == ["p02"]
    assert field(form, "Player").input_value() == "Anna"
    with form.expect_response(FIXES) as answer:
        form.click("#editing >> text=Save")
    assert answer.value.status == 200
    fix(home, {"do": "remove", "id": "p03"})
    until(lambda: form.locator("[data-id=p03]").count() == 0)
    pick(form, "p02")
    fix(home, {"do": "remove", "id": "p02"})
    until(lambda: form.locator("#editing label").count() == 0)
