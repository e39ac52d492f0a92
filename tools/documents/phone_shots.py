#!/usr/bin/env python3
"""What does the page look like? Takes the pictures of docs/phone.md, of the sample photos in a phone that is not there.

    uv run tools/documents/phone_shots.py docs

Needs Chromium (Debian: apt-get install -y chromium).
"""

import argparse
import io
import json
import urllib.request
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Page

from bench.phone_server import SAMPLES, chromium, phone, server

HEIGHT_PX = 780
COLOURS = 128
WAIT_MS = 180_000


def photo(page: Page, home: str, game: str, table: str, name: str, ready: str) -> None:
    """Send a sample photo, and wait for what comes of it."""
    page.goto(home)
    page.wait_for_selector("html[data-ready]")
    page.select_option("#game", game)
    page.select_option("#table", table)
    page.set_input_files("#choose", SAMPLES / name)
    page.wait_for_selector(ready, timeout=WAIT_MS)


def pieces(page: Page) -> list[dict[str, Any]]:
    with urllib.request.urlopen(page.url.replace("/m/", "/api/measurements/") + "/table") as answer:
        found: list[dict[str, Any]] = json.load(answer)["pieces"]
    return found


def tap(page: Page, piece: dict[str, Any]) -> None:
    script = """([x, y]) => { const svg = document.getElementById("drawing");
        const place = new DOMPoint(x, y).matrixTransform(svg.getScreenCTM()); return [place.x, place.y]; }"""
    x, y = page.evaluate(script, piece["center_px"])
    page.touchscreen.tap(x, y)


def shoot(page: Page, path: Path) -> None:
    """A screenshot with few colours, so that it stays small."""
    page.wait_for_timeout(900)  # for the sharper photo
    shot = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    shot.quantize(COLOURS, dither=Image.Dither.FLOYDSTEINBERG).save(path, optimize=True)
    print(f"{path}: {path.stat().st_size // 1000} kB")


def start(page: Page, home: str, out: Path) -> None:
    page.goto(home)
    page.wait_for_selector("html[data-ready]")
    shoot(page, out / "phone-start.png")


def ruling(page: Page, home: str, out: Path) -> None:
    photo(page, home, "legion", "legion desert", "legion_desert.jpg", "#modes:not([hidden])")
    found = sorted(pieces(page), key=lambda piece: piece["place_mm"][0])
    for piece in (found[4], found[len(found) // 2]):
        tap(page, piece)
    page.wait_for_selector("#ruling .headline")
    page.click("#bands")
    page.click("#closely")
    shoot(page, out / "phone-ruling.png")


def correcting(page: Page, out: Path) -> None:
    found = sorted(pieces(page), key=lambda piece: -piece["reach_px"])
    page.click("#mode-correct")
    tap(page, found[0])
    page.wait_for_selector("#editing >> text=Remove")
    touch = page.context.new_cdp_session(page)
    box = page.locator("#drawing .handle circle").bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    for kind, shift in (("touchStart", 0), ("touchMove", 3), ("touchMove", 6)):
        touch.send(
            "Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x + shift, "y": y}]}
        )
    page.wait_for_selector("#loupe:not([hidden])")
    shoot(page, out / "phone-correct.png")
    touch.send("Input.dispatchTouchEvent", {"type": "touchCancel", "touchPoints": []})


def corners(page: Page, home: str, out: Path) -> None:
    choice = "(no markers: I show the corners)"
    photo(page, home, "skirmish", choice, "skirmish_city.jpg", "#editing:not([hidden])")
    shoot(page, out / "phone-corners.png")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path, help="the folder for the pictures")
    out: Path = parser.parse_args().out
    with server() as (home, _), chromium() as browser:
        light, dark = (
            phone(browser, HEIGHT_PX, device_scale_factor=1.5, color_scheme=scheme)
            for scheme in ("light", "dark")
        )
        start(light, home, out)
        corners(light, home, out)
        ruling(dark, home, out)
        correcting(dark, out)


if __name__ == "__main__":
    main()
