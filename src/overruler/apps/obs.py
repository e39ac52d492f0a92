"""`overruler obs setup`: puts the overlay into a running OBS.

OBS with a browser source gets the overlay's page; without one, an image slide show that is fed the overlay as a PNG
with alpha for as long as the command runs. The show has one slide and hides itself at its end, which the command keeps
putting off: so OBS alone takes a ruling off the air when the command is killed or hangs.
"""

import argparse
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit

from overruler.apps.live import PORT as LIVE_PORT
from overruler.errors import BadInput, CannotMeasure

if TYPE_CHECKING:
    from overruler.sources.obs import Obs

NAME = "Overruler overlay"
BROWSER, SLIDES = "browser_source", "slideshow"
FEED_S = 0.1
HELD_S = 1.0
"""OBS hides a picture that nobody has put on again for so long."""
AGAIN = "OBS_WEBSOCKET_MEDIA_INPUT_ACTION_RESTART"
ANSWER_S = 1.0
"""A live server that does not answer for so long has nothing on air."""
NOT_MODIFIED = 304
AGAIN_S = 2.0
"""Before an OBS that has gone is looked for again."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("setup",), metavar="setup", help="create the overlay's source, or mend it")
    obs = parser.add_argument_group(
        "the running OBS (its password: the environment variable OBS_PASSWORD)"
    ).add_argument
    obs("--host", default="localhost", help="where it runs (localhost)")
    obs("--port", type=int, default=4455, help="its WebSocket's port (4455)")
    obs("--scene", metavar="NAME", help="the scene to put it in (the one on air)")
    live = parser.add_argument_group("what is shown").add_argument
    overlay = f"http://localhost:{LIVE_PORT}/overlay"
    live("--overlay", default=overlay, metavar="URL", help=f"the overlay's address ({overlay})")
    live("--image", action="store_true", help="feed a slide show, even where OBS has a browser source")


def run(args: argparse.Namespace) -> int:
    from overruler.sources.obs import Obs

    _check(args.overlay)
    with Obs(args.host, args.port) as obs:
        scene = args.scene or obs.request("GetCurrentProgramScene")["currentProgramSceneName"]
        kinds = obs.request("GetInputKindList")["inputKinds"]
        if BROWSER in kinds and not args.image:
            width, height = _canvas(obs)
            page = {"url": args.overlay, "width": width, "height": height, "fps_custom": False, "shutdown": False}
            put(obs, scene, BROWSER, page)
            print(f"{NAME}: a browser source in the scene {scene!r}")
            return 0
    keep_fed(lambda: Obs(args.host, args.port), scene, args.overlay)
    return 0


def _check(address: str) -> None:
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.netloc or not parts.path.endswith("/overlay"):
        raise BadInput(f"--overlay: expected the address that overruler live prints, found {address!r}")


def _canvas(obs: "Obs") -> tuple[int, int]:
    video = obs.request("GetVideoSettings")
    return int(video["baseWidth"]), int(video["baseHeight"])


def put(obs: "Obs", scene: str, kind: str, settings: dict[str, object]) -> None:
    """The overlay's source, in front of everything in a scene and as large as the canvas, new or as it was."""
    known = {one["inputName"]: one["inputKind"] for one in obs.request("GetInputList")["inputs"]}
    if NAME in known and _plain(known[NAME]) != _plain(kind):
        obs.request("RemoveInput", inputName=NAME)
        time.sleep(0.5)  # OBS lets go of it a little later than it says
        del known[NAME]
    if NAME not in known:
        item = obs.request("CreateInput", sceneName=scene, inputName=NAME, inputKind=kind, inputSettings=settings)
        number = item["sceneItemId"]
    else:
        obs.request("SetInputSettings", inputName=NAME, inputSettings=settings)
        number = _item(obs, scene)
    width, height = _canvas(obs)
    bounds = {"boundsType": "OBS_BOUNDS_STRETCH", "boundsWidth": float(width), "boundsHeight": float(height)}
    where = {"positionX": 0.0, "positionY": 0.0, **bounds}
    obs.request("SetSceneItemTransform", sceneName=scene, sceneItemId=number, sceneItemTransform=where)
    last = len(obs.request("GetSceneItemList", sceneName=scene)["sceneItems"]) - 1
    obs.request("SetSceneItemIndex", sceneName=scene, sceneItemId=number, sceneItemIndex=last)


def _item(obs: "Obs", scene: str) -> int:
    items = obs.request("GetSceneItemList", sceneName=scene)["sceneItems"]
    found = [int(item["sceneItemId"]) for item in items if item["sourceName"] == NAME]
    if found:
        return found[0]
    return int(obs.request("CreateSceneItem", sceneName=scene, sourceName=NAME)["sceneItemId"])


def _plain(kind: str) -> str:
    """A kind of source without its version."""
    return kind.partition("_v")[0]


# --- without a browser source ---


def keep_fed(opened: "Callable[[], Obs]", scene: str, overlay: str) -> None:
    """Feed a slide show until Ctrl-C, through restarts of OBS and of the live server; then it is empty."""
    with tempfile.TemporaryDirectory(prefix="overruler-") as folder:
        with opened() as obs:  # what is wrong from the first is said, and ends it
            Slide(obs, Path(folder)).put(scene)
        print(f"{NAME}: an image slide show in the scene {scene!r}, fed until Ctrl-C", flush=True)
        said = ""
        while True:
            try:
                with opened() as obs:
                    _fed(Slide(obs, Path(folder)), scene, overlay)
            except (CannotMeasure, BadInput) as error:  # a restarted OBS answers before it has its scenes
                if str(error) != said:
                    print(f"overruler: {error}; trying again", file=sys.stderr, flush=True)
                said = str(error)
                time.sleep(AGAIN_S)


@dataclass
class Slide:
    """The one picture of a slide show in OBS."""

    obs: "Obs"
    folder: Path
    png: bytes = b""
    """What it shows."""

    def put(self, scene: str) -> None:
        """Show nothing, in front of everything in a scene; `BadInput` where OBS has no slide shows."""
        kinds = [kind for kind in self.obs.request("GetInputKindList")["inputKinds"] if _plain(kind) == SLIDES]
        if not kinds:
            raise BadInput("this OBS has neither browser sources nor image slide shows: install its own plugins")
        self.png = clear_png()
        put(self.obs, scene, kinds[0], self._settings())

    def show(self, png: bytes) -> None:
        """Hold a picture for `HELD_S` more."""
        if png == self.png:
            self.obs.request("TriggerMediaInputAction", inputName=NAME, mediaAction=AGAIN)
            return
        self.png = png
        self.obs.request("SetInputSettings", inputName=NAME, inputSettings=self._settings())

    def _settings(self) -> dict[str, object]:
        show = {"slide_mode": "mode_auto", "playback_behavior": "always_play", "loop": False, "hide": True}
        cut = {"transition": "cut", "transition_speed": 0, "slide_time": round(1000 * HELD_S)}
        return {"files": [{"value": str(self._written())}], "randomize": False, **show, **cut}

    def _written(self) -> Path:
        """The picture in a file of a new name, for OBS keeps what it has read; it may still be reading the last one."""
        old = sorted(self.folder.glob("*.png"))
        for path in old[:-1]:
            path.unlink()
        number = int(old[-1].stem) + 1 if old else 0
        path = self.folder / f"{number:09}.png"
        path.write_bytes(self.png)
        return path


def _fed(slide: Slide, scene: str, overlay: str) -> None:
    """Show the overlay as it is on air, whenever it changes."""
    slide.put(scene)
    try:
        tag = ""
        while True:
            tag = feed(slide, overlay, tag)
            time.sleep(FEED_S)
    finally:
        slide.show(clear_png())


def feed(slide: Slide, overlay: str, tag: str = "") -> str:
    """One look at what is on air; nothing where the server does not say.

    `tag` is the picture's that is shown now, the answer that of the new one: the same one is not drawn again.
    """
    parts = urlsplit(overlay)
    asked = urllib.request.Request(parts._replace(path=f"{parts.path}.png").geturl(), headers={"if-none-match": tag})
    png, tag = clear_png(), ""
    try:
        with urllib.request.urlopen(asked, timeout=ANSWER_S) as answer:
            png, tag = answer.read(), answer.headers.get("etag", "")
    except HTTPError as error:
        error.close()
        if error.code == NOT_MODIFIED:
            png, tag = slide.png, asked.get_header("If-none-match") or ""
    except (URLError, OSError):
        pass
    slide.show(png)
    return tag


def clear_png() -> bytes:
    """A picture of nothing."""
    import io

    from PIL import Image

    out = io.BytesIO()
    Image.new("RGBA", (16, 9)).save(out, "PNG")
    return out.getvalue()
