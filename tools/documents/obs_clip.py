#!/usr/bin/env python3
"""The whole way with a real OBS, without a screen: a film played in OBS, watched there, its rulings laid over it there.

    uv run tools/documents/obs_clip.py out/clips/clip_402.mp4 --frame docs/live-obs.jpg

OBS and Xvfb must be installed. overruler live takes its pictures from OBS, overruler obs setup puts the overlay into
it, and OBS records. Told is when a move's ruling was seen in OBS's program; a frame of the record is kept.
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from overruler.errors import OverrulerError
from overruler.sources.obs import Obs, take_screenshot

SIZE, PASSWORD, TABLE = (1280, 720), "out of sight", "Table"
RULED_MM = 450.0
"""Distance of the two pieces that are ruled on, in mm: the line is seen, and so are the ruler's bands."""
LOOKS = ((27, 127, 220), (240, 124, 0), (107, 44, 150))
"""The colours of in, out and too close, as red green blue."""
SETTINGS = """[General]
FirstRun=true
[OBSWebSocket]
FirstLoad=false
ServerEnabled=true
ServerPort={port}
AlertsEnabled=false
AuthRequired=true
ServerPassword={password}
[Basic]
Profile=Untitled
ProfileDir=Untitled
"""
PROFILE = """[General]
Name=Untitled
[Output]
Mode=Simple
[SimpleOutput]
FilePath={folder}
RecFormat=mkv
RecQuality=Stream
VBitrate=6000
StreamEncoder=x264
[Video]
BaseCX={size[0]}
BaseCY={size[1]}
OutputCX={size[0]}
OutputCY={size[1]}
FPSType=1
FPSInt=10
"""


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as line:
        port: int = line.getsockname()[1]
    return port


def until(true: Callable[[], Any], timeout_s: float, what: str) -> Any:
    end = time.monotonic() + timeout_s
    while time.monotonic() < end:
        try:
            if found := true():
                return found
        except (OverrulerError, OSError):
            pass
        time.sleep(0.1)
    raise SystemExit(f"{what} never came")


@contextmanager
def running(command: list[str], **more: Any) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **more
    ) as program:
        try:
            yield program
        finally:
            program.terminate()


@contextmanager
def studio(folder: Path, port: int, size: tuple[int, int]) -> Iterator[None]:
    """An OBS of our own, its canvas so large, on a screen of its own; it answers at a port, with its scene loaded."""
    profile = folder / "obs-studio" / "basic" / "profiles" / "Untitled"
    profile.mkdir(parents=True)
    (folder / "obs-studio" / "global.ini").write_text(SETTINGS.format(port=port, password=PASSWORD))
    (profile / "basic.ini").write_text(PROFILE.format(size=size, folder=folder))
    reading, writing = os.pipe()
    screen = ["Xvfb", "-displayfd", str(writing), "-screen", "0", "1280x800x24"]
    with open(reading, "rb") as told, running(screen, pass_fds=[writing]):
        os.close(writing)
        display = f":{told.readline().decode().strip()}"
        own = {
            key: value for key, value in os.environ.items() if not key.startswith("QT_")
        }  # OpenCV's Qt is not OBS's
        here = own | {
            "DISPLAY": display,
            "XDG_CONFIG_HOME": str(folder),
            "LIBGL_ALWAYS_SOFTWARE": "1",
        }
        with running(["obs", "--multi", "--disable-updater"], env=here):
            with until(lambda: connected(port), 90, "OBS") as obs:
                until(lambda: obs.request("GetCurrentProgramScene"), 60, "its scene")
            yield


def connected(port: int) -> Obs:
    return Obs(
        "127.0.0.1", port, PASSWORD, answer_s=60
    )  # drawn by the processor, beside other programs


def show(obs: Obs, film: Path) -> str:
    """The film as a source that fills the canvas; the scene's name."""
    scene: str = obs.request("GetCurrentProgramScene")["currentProgramSceneName"]
    settings = {"local_file": str(film.resolve()), "looping": True, "is_local_file": True}
    told = {
        "sceneName": scene,
        "inputName": TABLE,
        "inputKind": "ffmpeg_source",
        "inputSettings": settings,
    }
    item = obs.request("CreateInput", **told)["sceneItemId"]
    bounds = {
        "boundsType": "OBS_BOUNDS_STRETCH",
        "boundsWidth": float(SIZE[0]),
        "boundsHeight": float(SIZE[1]),
    }
    obs.request(
        "SetSceneItemTransform", sceneName=scene, sceneItemId=item, sceneItemTransform=bounds
    )
    return scene


def call(address: str, post: bool = False) -> Any:
    with urllib.request.urlopen(
        urllib.request.Request(address, method="POST" if post else "GET")
    ) as answer:
        return json.load(answer)


def pair_of(home: str, truth: Any) -> tuple[str, str]:
    """A piece that will move, and the one that stands most nearly `RULED_MM` from it."""
    pieces = call(f"{home}/api/live/scene")["pieces"]
    places = np.array([(piece["x_mm"], piece["y_mm"]) for piece in pieces])
    off = [np.hypot(*(places - move["from_mm"]).T) for move in truth["moves"]]
    one = next(int(near.argmin()) for near in off if near.min() < 10)
    away = np.hypot(*(places - places[one]).T)
    other = int(np.abs(away - RULED_MM).argmin())
    return pieces[one]["id"], pieces[other]["id"]


def tell_show(home: str, one: str, other: str) -> None:
    """Give the two pieces names and players, and the players a score."""
    named = [
        {"do": "name", "id": name, "unit": unit, "player": player}
        for name, unit, player in ((one, "Rebels", "green"), (other, "Empire", "red"))
    ]
    body = json.dumps({"schema": "overruler/fix/1", "fix": named}).encode()
    urllib.request.urlopen(
        urllib.request.Request(f"{home}/api/live/fix", body, method="POST")
    ).close()
    for told in ("score?player=green&score=2", "score?player=red&score=1", "round?text=Round+2"):
        call(f"{home}/api/live/do/{told}", post=True)


def lettered(pixels: Any) -> int:
    """How many pixels (H, W, 3), red green blue, have the colour of a ruling's line or its icon."""
    return int(np.sum([np.abs(pixels.astype(int) - colour).max(-1) < 40 for colour in LOOKS]))


def watched(obs: Obs, scene: str, home: str, minutes: float, bare: int) -> list[str]:
    """What came on air and went off, and how soon OBS showed it; `bare` pixels are lettered without."""
    lines, begin, ruling, due = [], time.monotonic(), None, None
    while time.monotonic() - begin < 60 * minutes:
        now = call(f"{home}/api/live")["ruling"]
        if now != ruling:
            due, ruling = (time.monotonic(), now is not None), now
            lines.append(f"{due[0] - begin:6.1f} s  {now['headline'] if now else 'off the air'}")
        if (
            due is not None
            and (lettered(take_screenshot(obs, scene)[::2, ::2, ::-1]) > bare + 50) == due[1]
        ):
            lines[-1] += f"; in OBS's program {time.monotonic() - due[0]:.2f} s later"
            due = None
        time.sleep(0.1)
    return lines


def frame_of(film: Path) -> Any:
    """The picture of a record, one a second being looked at, with most drawn on it."""
    import av

    with av.open(str(film)) as opened:
        pictures = [
            one.to_ndarray(format="rgb24")
            for k, one in enumerate(opened.decode(video=0))
            if k % 10 == 0
        ]
    drawn = np.array([lettered(pixels[::3, ::3]) for pixels in pictures])
    return pictures[int(drawn.argmax())] if len(drawn) else None


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "film", type=Path, help="with its board (.toml) and its truth (.json) beside it"
    )
    parser.add_argument("--frame", type=Path, help="where a frame of OBS's record goes")
    parser.add_argument("--minutes", type=float, default=0.7)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        port, live = free_port(), free_port()
        stack.enter_context(studio(Path(folder), port, SIZE))
        obs, home = stack.enter_context(connected(port)), f"http://localhost:{live}"
        scene = show(obs, args.film)
        program, own = [sys.executable, "-m", "overruler"], os.environ | {"OBS_PASSWORD": PASSWORD}
        watch = [
            *program,
            "live",
            f"obs://127.0.0.1:{port}/{TABLE}",
            "--board",
            str(args.film.with_suffix(".toml")),
        ]
        stack.enter_context(running([*watch, "--game", "legion", "--port", str(live)], env=own))
        lay = [
            *program,
            "obs",
            "setup",
            "--host",
            "127.0.0.1",
            "--port",
            str(port),
            "--overlay",
            f"{home}/overlay",
        ]
        until(lambda: call(f"{home}/api/live")["calibrated"], 120, "the table's first look")
        stack.enter_context(running(lay, env=own))
        one, other = pair_of(home, json.loads(args.film.with_suffix(".json").read_text()))
        tell_show(home, one, other)
        bare = lettered(take_screenshot(obs, scene)[::2, ::2, ::-1])
        call(f"{home}/api/live/do/pick?from={one}&to={other}", post=True)
        until(
            lambda: lettered(take_screenshot(obs, scene)[::2, ::2, ::-1]) > bare + 50,
            90,
            "the overlay",
        )
        obs.request("StartRecord")
        print("\n".join(watched(obs, scene, home, args.minutes, bare)))
        path = Path(obs.request("StopRecord")["outputPath"])
        time.sleep(2)
        if args.frame and (found := frame_of(path)) is not None:
            Image.fromarray(found).save(args.frame, quality=88)


if __name__ == "__main__":
    main()
