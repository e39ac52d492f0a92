#!/usr/bin/env python3
"""What do the desk and a film's page look like? Takes the pictures of docs/live.md and docs/analyze.md.

    uv run tools/documents/desk_shots.py docs
    uv run tools/documents/desk_shots.py docs --report games/game/report.html

The desk watches a sample photo as if a camera showed it. Needs Chromium.
"""

import argparse
import io
import json
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

import uvicorn
from PIL import Image
from playwright.sync_api import Browser

from bench.phone_server import SAMPLES, chromium
from overruler.apps.web.guard import AccessPolicy
from overruler.apps.web.live.app import LiveServices, make_live_app
from overruler.apps.web.live.desk import Desk
from overruler.apps.web.live.watcher import TableWatcher
from overruler.board import Board
from overruler.frame import Frame, Shot
from overruler.referee import Referee
from overruler.sources.live import LiveReader, Source
from overruler.sources.photo import load_photo

DESK_PX = {"width": 1280, "height": 800}
PAGE_PX = {"width": 1180, "height": 860}
AFTER_MOVE = "at('film-show').click(); go(film.moves[0].end_s + 1)"
"""The page with its film, a second after the first move."""
FRAME_S = 0.2
"""Time between two pictures of the camera that is not there."""
UNITS = {("p01", "p02", "p03"): ("Rebels", "blue"), ("p10", "p11", "p12"): ("Snowtroopers", "red")}
SHOW = (
    ("score", {"player": "blue", "score": "4"}),
    ("score", {"player": "red", "score": "3"}),
    ("round", {"text": "Round 3"}),
    ("player", {"player": "blue", "name": "Anna Berg"}),
    ("player", {"player": "red", "name": "Tom Lind"}),
)


@contextmanager
def served(photo: Path) -> Iterator[str]:
    """The address of a live server that watches a photo."""
    frame = load_photo(photo)

    def shots() -> Iterator[Shot]:
        begin_s = time.monotonic()
        while True:
            now = Frame(frame.pixels, "camera", time_s=time.monotonic() - begin_s)
            yield Shot.of(now)
            time.sleep(FRAME_S)

    desk, referee = Desk(), Referee(Board.load(photo.with_suffix(".toml")), game="legion")
    live = LiveReader(Source("camera", shots))
    watcher = TableWatcher(live, referee, lambda seen: desk.update_table(seen, watcher.shot))
    app = make_live_app(LiveServices(desk, watcher, AccessPolicy(frozenset({"127.0.0.1"}))))
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error", ws="websockets-sansio"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while desk.scene() is None:
        time.sleep(0.1)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join()


def post(home: str, path: str, body: object = None) -> None:
    data = None if body is None else json.dumps(body).encode()
    urllib.request.urlopen(
        urllib.request.Request(f"{home}/api/live/{path}", data, method="POST")
    ).close()


def set_up(home: str) -> None:
    """Names, a show, and a ruling on air."""
    fixes = [
        {"do": "name", "id": name, "unit": unit, "player": player}
        for names, (unit, player) in UNITS.items()
        for name in names
    ]
    post(home, "fix", {"schema": "overruler/fix/1", "fix": fixes})
    for action, told in SHOW:
        post(home, f"do/{action}?{urlencode(told)}")
    post(home, "do/pick?from=Rebels&to=Snowtroopers")


def shoot(
    browser: Browser, address: str, ready: str, size: dict[str, int], path: Path, act: str = ""
) -> None:
    """Take the picture of a page that is ready, after a script `act` of what somebody does."""
    page = browser.new_page(viewport={"width": size["width"], "height": size["height"]})
    page.goto(address)
    page.wait_for_selector(ready, state="attached")
    page.wait_for_timeout(1500)
    if act:
        page.evaluate(act)
        page.wait_for_timeout(1500)
    shot = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    shot.save(path, quality=85, optimize=True)
    print(f"{path}: {path.stat().st_size // 1000} kB")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("--report", type=Path, help="a page that overruler analyze has made")
    args = parser.parse_args()
    with chromium() as browser:
        if args.report:
            page = args.report.resolve().as_uri()
            path = args.out / "analyze-report.png"
            shoot(browser, page, ".tag[font-size]", PAGE_PX, path, AFTER_MOVE)
            return
        with served(SAMPLES / "legion_desert.jpg") as home:
            set_up(home)
            shoot(browser, f"{home}/control", ".tag rect", DESK_PX, args.out / "live-desk.jpg")


if __name__ == "__main__":
    main()
