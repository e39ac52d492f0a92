"""Lessons come from bundles and from the store of phones; each is measured in a folder of its own."""

import json
import re
from contextlib import closing
from pathlib import Path

import pytest

from overruler.apps import bundles
from overruler.apps.settings.measure_request import MeasureRequest
from overruler.apps.teach.lessons import lessons_of
from overruler.apps.web.phone.store import Measurement, Store
from overruler.apps.web.phone.worker_tasks import scene_text
from overruler.errors import BadInput
from tests.apps.web.desk import jpeg, scene

FIXES = json.dumps({"schema": "overruler/fix/1", "fix": [{"do": "remove", "id": "p01"}]})
QUESTION = {"question": "range", "from": "p01", "to": "p02"}


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    files = {"photo.jpg": jpeg(), "scene.json": scene_text(scene().to_json()).encode()}
    arguments = ("photo.jpg", "--marker-mm=60", "--fix=fix.json")
    path = tmp_path / "dispute.zip"
    path.write_bytes(bundles.make_bundle(files | {"fix.json": FIXES.encode()}, arguments, QUESTION))
    return path


def test_a_bundle_is_a_lesson(bundle: Path) -> None:
    (lesson,) = lessons_of([bundle], MeasureRequest())
    before = Path.cwd()
    with lesson.folder():
        options = lesson.read_options()
        assert options.photo.exists()
    assert Path.cwd() == before
    assert lesson.name == str(bundle)
    assert [(fix.do, fix.id) for fix in options.fixes] == [("remove", "p01")]


def test_a_changed_bundle_is_none(bundle: Path) -> None:
    data = bytearray(bundle.read_bytes())
    data[data.index(b"p01")] ^= 1
    bundle.write_bytes(data)
    with pytest.raises(BadInput, match="is not the file that was packed: ask for the bundle again"):
        list(lessons_of([bundle], MeasureRequest()))


def test_the_corrected_photos_of_a_store_are_lessons(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    for corrected in (True, False):
        name = store.new_id()
        store.path_of(name, "photo.jpg").write_bytes(jpeg())
        if corrected:
            store.path_of(name, "fix.json").write_text(FIXES)
        request = MeasureRequest(photo=Path("photo.jpg"), marker_mm=60.0)
        store.add(Measurement(name, store.now_s(), "done", "", "legion", "", request))
    store.close()
    (lesson,) = lessons_of([tmp_path / "store"], MeasureRequest())
    with lesson.folder():
        assert len(lesson.read_options().fixes) == 1


def test_a_store_that_a_server_uses_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    said = f"^{re.escape(str(folder))}: a server uses it: stop the server first$"
    with closing(Store(folder)), pytest.raises(BadInput, match=said):
        list(lessons_of([folder], MeasureRequest()))


def test_a_photo_is_a_lesson_by_the_command_line_s_options(tmp_path: Path) -> None:
    (tmp_path / "a.jpg").touch()
    (tmp_path / "fix.json").write_text(FIXES)
    request = MeasureRequest(marker_mm=60.0, fix=tmp_path / "fix.json")
    (lesson,) = lessons_of([tmp_path / "a.jpg"], request)
    assert lesson.read_options().photo == tmp_path / "a.jpg"
