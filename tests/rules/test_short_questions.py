"""Short questions: words ask what JSON asks, and a word too many is told."""

from typing import Any

import pytest

from overruler.errors import BadInput
from overruler.games import GAMES
from overruler.rules import ask, game_of, read_question
from overruler.rules.words import in_words
from tests.rules.scenes import disc, scene_of


@pytest.mark.parametrize(
    ("game", "words", "asked"),
    [
        ("legion", "range p01 p02", {"from": "p01", "to": "p02"}),
        ("legion", " distance  p01 p02 ", {"from": "p01", "to": "p02"}),
        ("legion", "at p01 p02 range=2", {"from": "p01", "to": "p02", "range": [2]}),
        ("legion", "within p01 range=1-2 to=p02", {"from": "p01", "to": "p02", "range": [1, 2]}),
        ("positioning", "within p01 p02 6in", {"from": "p01", "to": "p02", "distance_in": 6}),
        ("positioning", "range p01 p02 .5in", {"from": "p01", "to": "p02", "range_in": 0.5}),
        (
            "positioning",
            "advance p01 p02 direction_deg=90 6in",
            {"piece": "p01", "target": "p02", "direction_deg": 90, "distance_in": 6},
        ),
        (
            "xwing",
            "attack_range p01 p02 arc=front+rear",
            {"attacker": "p01", "defender": "p02", "arc": "front+rear"},
        ),
    ],
)
def test_words_ask_what_json_asks(game: str, words: str, asked: dict[str, Any]) -> None:
    read = read_question(game, words, "question").value
    assert read == {"question": words.split()[0], **asked}


@pytest.mark.parametrize("game", GAMES)
def test_json_stays_json(game: str) -> None:
    assert read_question(game, '{"question": "distance"}', "here").value == {"question": "distance"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("range p01 p02 p03", "'p03' is one word too many"),
        ("range p01 p02 6in", "'6in' is one word too many"),
        ("range p01 from=p02", "gives from twice"),
        ("range p01 p02 arc=front", "'arc=front' is one word too many"),
        ("reach p01 p02", "no question 'reach'"),
        ("range p01", "to: is missing"),
        ("at p01 p02 range=x", "range"),
        ("[1", "not JSON"),
        (" ", "is empty: ask in words, such as range p01 p02, or in JSON"),
        (
            '{"question": range}',
            "not JSON: a value is missing, or is a word without quotes, at line 1 column 14",
        ),
        ("{'question': 1}", "not JSON: a key in double quotes is missing at line 1 column 2"),
        ('{"question" 1}', "not JSON: a colon is missing at line 1 column 13"),
        ('{"a": 1 "b": 2}', "not JSON: a comma or a closing bracket is missing at line 1 column 9"),
        (
            '{"question": "range',
            "not JSON: a text without a closing quote begins at line 1 column 14",
        ),
    ],
)
def test_what_is_wrong_is_told_in_one_line(words: str, said: str) -> None:
    scene = scene_of([disc("p01", 100, 100), disc("p02", 200, 100)], game="legion")
    with pytest.raises(BadInput, match=said) as caught:
        ask(scene, read_question("legion", words, "line 1"))
    assert "\n" not in str(caught.value)


def test_every_name_of_every_question_can_be_said_in_words() -> None:
    for game in GAMES:
        for kind, question in game_of(game).questions.items():
            names = [
                field.name for field in question.fields if field.type.schema == {"type": "string"}
            ]
            said = " ".join([kind, *(f"n{index}" for index in range(len(names)))])
            read = read_question(game, said, "question").value
            assert list(read)[1:] == names


@pytest.mark.parametrize(
    ("game", "words", "example"),
    [
        ("legion", "range left", "range left right"),
        ("legion", "range right", "range right left"),
        ("legion", "range nobody", "range left right"),
        ("legion", "at left right", "at left right range=1-2"),
        ("legion", "at", "at left right range=1-2"),
        ("positioning", "within left", "within left right 4in"),
        ("xwing", '{"question": "attack_range"}', "attack_range left right front"),
        (
            "xwing",
            "range0_after",
            'range0_after events=[{"type":"move","ship":"left","x_mm":300,"y_mm":420,"heading_deg":90}]',
        ),
    ],
)
def test_a_question_that_lacks_something_is_answered_with_one_that_the_scene_answers(
    game: str, words: str, example: str
) -> None:
    base = {"shape": "rectangle", "width_mm": 40, "length_mm": 40}
    pieces = [disc("left", 100, 100, base=base), disc("right", 200, 100, base=base)]
    scene = scene_of(pieces, game=game)
    with pytest.raises(BadInput, match=r"(is|are) missing; ask, for example: ") as caught:
        ask(scene, read_question(game, words, "here"))
    said = str(caught.value).partition("for example: ")[2]
    assert said == example
    ask(scene, read_question(game, said, "here"))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"inches": 6}, "'inches' is no field of it; ask, for example: within left right 6in"),
        ({"inches": float("inf"), "reach": 1}, "'inches', 'reach' are no fields of it; ask, for"),
    ],
)
def test_a_field_that_is_none_is_named_and_in_no_example(given: dict[str, Any], said: str) -> None:
    scene = scene_of([disc("left", 100, 100), disc("right", 200, 100)], game="inches")
    with pytest.raises(BadInput, match=f"^question: distance_in: is missing, and {said}") as caught:
        ask(scene, {"question": "within", "from": "left", "to": "right", **given})
    assert "Infinity" not in str(caught.value)


@pytest.mark.parametrize(
    "words",
    [
        *("range 'left guard' p02", "range \u201cleft guard\u201d p02"),
        *("range \u201eleft guard\u201c p02", "range to=p02 from='left guard'"),
        *("'range \"left guard\" p02'", "\"range 'left guard' p02\""),
    ],
)
def test_quotes_of_any_shell_and_of_phones_are_quotes(words: str) -> None:
    read = read_question("legion", words, "question").value
    assert read == {"question": "range", "from": "left guard", "to": "p02"}


@pytest.mark.parametrize("name", ["6in", "a=b"])
def test_what_stands_in_quotes_is_a_name_and_no_length_or_field(name: str) -> None:
    read = read_question("inches", f'within "{name}" p02 20in', "question").value
    assert read == {"question": "within", "from": name, "to": "p02", "distance_in": 20}
    assert read_question("inches", in_words(game_of("inches").questions, read), "").value == read


def test_a_name_may_hold_an_apostrophe() -> None:
    read = read_question("legion", "range O'Brien D'Arcy", "question").value
    assert read == {"question": "range", "from": "O'Brien", "to": "D'Arcy"}


def test_a_name_with_spaces_stands_in_quotes() -> None:
    scene = scene_of([disc("left guard", 100, 100), disc("p02", 200, 100)], game="inches")
    for words in ('within "left guard" p02 6in', 'within 6in to=p02 from="left guard"'):
        values = read_question("inches", words, "question").value
        assert values == {"question": "within", "from": "left guard", "to": "p02", "distance_in": 6}
        assert ask(scene, words).answer["answer"] is True
    with pytest.raises(BadInput, match=r'for example: within "left guard" p02 6in$'):
        ask(scene, 'within "left guard"')
    figures = 'attack_range p01 p02 figures=["0"]'
    assert read_question("tide_of_iron", figures, "question").value["figures"] == ["0"]


def test_where_no_question_of_the_kind_can_be_answered_none_is_offered() -> None:
    with pytest.raises(BadInput, match=r"from, to: are missing$"):
        ask(scene_of([disc("alone", 100, 100)], game="legion"), "range")


@pytest.mark.parametrize("game", GAMES)
def test_what_is_said_in_words_is_what_the_example_asks(game: str) -> None:
    for kind in game_of(game).questions:
        example = game_of(game).example(kind)
        said = in_words(game_of(game).questions, example)
        assert read_question(game, said, "here").value == example
