"""Terrain files: what they say is read, and what is wrong in them is named."""

from pathlib import Path

import pytest

from overruler.declared_terrain import HEIGHT_SIGMA_MM, OUTLINE_SIGMA_MM, load_terrain
from overruler.errors import BadInput

SQUARE = "[[0, 0], [100, 0], [100, 80], [0, 80]]"
HILL = f'id = "hill"\nfootprint_mm = {SQUARE}\ntop_z_mm = 34'


def written(tmp_path: Path, *entries: str, head: str = 'schema = "overruler/terrain/1"') -> Path:
    path = tmp_path / "terrain.toml"
    path.write_text("\n".join([head, *(f"[[terrain]]\n{entry}" for entry in entries)]))
    return path


def test_a_hill_is_read_and_what_is_left_out_has_a_doubt(tmp_path: Path) -> None:
    (hill,) = load_terrain(written(tmp_path, HILL))
    assert (hill.id, hill.top_z_mm, hill.sigma_mm, hill.edge_mm) == (
        "hill",
        34,
        HEIGHT_SIGMA_MM,
        OUTLINE_SIGMA_MM,
    )
    assert hill.outline_mm == ((0, 0), (100, 0), (100, 80), (0, 80))
    assert (hill.markers, hill.about_marker, hill.rough, hill.size) == ((), False, False, 1)


def test_a_hill_may_stand_anywhere_by_its_markers(tmp_path: Path) -> None:
    entry = f'id = "mesa"\naround_mm = {SQUARE}\nmarkers = [20, 21]\nmarker_mm = 40\nrough = true\nsize = 2'
    (hill,) = load_terrain(written(tmp_path, entry))
    assert (hill.markers, hill.marker_mm, hill.about_marker, hill.top_z_mm) == (
        (20, 21),
        40,
        True,
        None,
    )
    assert (hill.rough, hill.size) == (True, 2)


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (f"footprint_mm = {SQUARE}\ntop_z_mm = 34", "terrain[0].id: is missing"),
        (f'id = "hill"\nfootprint_mm = {SQUARE}', "terrain[0].top_z_mm: is missing"),
        ('id = "hill"\ntop_z_mm = 34', "give footprint_mm"),
        (f"{HILL}\naround_mm = {SQUARE}\nmarkers = [1]", "give footprint_mm"),
        (f'id = "hill"\naround_mm = {SQUARE}\ntop_z_mm = 34', "needs markers"),
        (f"{HILL}\nheight_mm = 34", "terrain[0].height_mm: unknown key"),
        (f"{HILL}\nfootprnt_mm = 1", "did you mean 'footprint_mm'?"),
        (f"{HILL}\nsigma_mm = 0", "terrain[0].sigma_mm: must be greater than 0"),
        (f"{HILL}\nbase_z_mm = 40", "34 mm does not lie above 40 mm"),
        (f"{HILL}\nmarker_mm = 40", "goes with markers"),
        (f"{HILL}\nmarkers = []", "each once"),
        (f"{HILL}\nmarkers = [1, 1]", "each once"),
        (f"{HILL}\nmarkers = [-1]", "each once"),
        (f"{HILL}\nmarkers = [1, 2]\nmarkers_at_mm = [[5, 5]]", "expected 2 places, found 1"),
        (f'id = "p07"\nfootprint_mm = {SQUARE}\ntop_z_mm = 34', "is no name for a hill"),
        (
            'id = "hill"\nfootprint_mm = [[0, 0], [9, 9], [9, 0], [0, 9]]\ntop_z_mm = 34',
            "crosses itself",
        ),
        ('id = "hill"\nfootprint_mm = [[0, 0], [9, 0]]\ntop_z_mm = 34', "3 different points"),
        (f'id = "hill"\nfootprint_mm = {SQUARE}\ntop_z_mm = nan', "not a finite number"),
        (f'id = "hill"\nfootprint_mm = {SQUARE}\ntop_z_mm = "34"', "expected a number"),
    ],
)
def test_what_is_wrong_is_named(entry: str, said: str, tmp_path: Path) -> None:
    path = written(tmp_path, entry)
    with pytest.raises(BadInput) as refused:
        load_terrain(path)
    assert said in str(refused.value)
    assert str(refused.value).startswith(f"{path}: ")


def test_names_and_markers_are_given_once(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"terrain\[1\].id: repeats hill"):
        load_terrain(written(tmp_path, HILL, HILL))
    other = HILL.replace("hill", "mesa")
    with pytest.raises(BadInput, match=r"terrain\[1\].markers: repeats 20"):
        load_terrain(written(tmp_path, f"{HILL}\nmarkers = [20]", f"{other}\nmarkers = [20]"))


@pytest.mark.parametrize(
    "head", ['schema = "overruler/board/1"', "", 'schema = "overruler/terrain/1"\nhills = 2']
)
def test_another_file_is_no_terrain_file(head: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="schema"):
        load_terrain(written(tmp_path, HILL, head=head))
