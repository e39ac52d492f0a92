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

from overruler.apps.live import DEFAULT_PORT as LIVE_PORT
from overruler.errors import BadInput, CannotMeasure

if TYPE_CHECKING:
    from overruler.sources.obs import Obs

INPUT_NAME = "Overruler overlay"
BROWSER_KIND, SLIDESHOW_KIND = "browser_source", "slideshow"
POLL_INTERVAL_S = 0.1
SLIDE_TIME_S = 1.0
"""OBS hides a picture that nobody has put on again for so long."""
RESTART_ACTION = "OBS_WEBSOCKET_MEDIA_INPUT_ACTION_RESTART"
ANSWER_TIMEOUT_S = 1.0
"""A live server that does not answer for so long has nothing on air."""
NOT_MODIFIED = 304
RECONNECT_DELAY_S = 2.0
"""Before an OBS that has gone is looked for again."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action",
        choices=("setup",),
        metavar="setup",
        help="create the overlay's source, or mend it",
    )
    obs = parser.add_argument_group(
        "the running OBS (its password: the environment variable OBS_PASSWORD)"
    ).add_argument
    obs("--host", default="localhost", help="where it runs (localhost)")
    obs("--port", type=int, default=4455, help="its WebSocket's port (4455)")
    obs("--scene", metavar="NAME", help="the scene to put it in (the one on air)")
    live = parser.add_argument_group("what is shown").add_argument
    overlay = f"http://localhost:{LIVE_PORT}/overlay"
    live("--overlay", default=overlay, metavar="URL", help=f"the overlay's address ({overlay})")
    live(
        "--image",
        action="store_true",
        help="feed a slide show, even where OBS has a browser source",
    )


def run(args: argparse.Namespace) -> int:
    from overruler.sources.obs import Obs

    _check_overlay_address(args.overlay)
    with Obs(args.host, args.port) as obs:
        scene = args.scene or obs.request("GetCurrentProgramScene")["currentProgramSceneName"]
        kinds = obs.request("GetInputKindList")["inputKinds"]
        if BROWSER_KIND in kinds and not args.image:
            width, height = _canvas(obs)
            page = {
                "url": args.overlay,
                "width": width,
                "height": height,
                "fps_custom": False,
                "shutdown": False,
            }
            put_input_on_top(obs, scene, BROWSER_KIND, page)
            print(f"{INPUT_NAME}: a browser source in the scene {scene!r}")
            return 0
    feed_until_stopped(lambda: Obs(args.host, args.port), scene, args.overlay)
    return 0


def _check_overlay_address(address: str) -> None:
    parts = urlsplit(address)
    if (
        parts.scheme not in ("http", "https")
        or not parts.netloc
        or not parts.path.endswith("/overlay")
    ):
        raise BadInput(
            f"--overlay: expected the address that overruler live prints, found {address!r}"
        )


def _canvas(obs: "Obs") -> tuple[int, int]:
    video = obs.request("GetVideoSettings")
    return int(video["baseWidth"]), int(video["baseHeight"])


def put_input_on_top(obs: "Obs", scene: str, kind: str, settings: dict[str, object]) -> None:
    """The overlay's source, in front of everything in a scene and as large as the canvas, new or as it was."""
    known = {one["inputName"]: one["inputKind"] for one in obs.request("GetInputList")["inputs"]}
    if INPUT_NAME in known and _kind_without_version(known[INPUT_NAME]) != _kind_without_version(
        kind
    ):
        obs.request("RemoveInput", inputName=INPUT_NAME)
        time.sleep(0.5)  # OBS lets go of it a little later than it says
        del known[INPUT_NAME]
    if INPUT_NAME not in known:
        item = obs.request(
            "CreateInput",
            sceneName=scene,
            inputName=INPUT_NAME,
            inputKind=kind,
            inputSettings=settings,
        )
        number = item["sceneItemId"]
    else:
        obs.request("SetInputSettings", inputName=INPUT_NAME, inputSettings=settings)
        number = _scene_item_id(obs, scene)
    width, height = _canvas(obs)
    bounds = {
        "boundsType": "OBS_BOUNDS_STRETCH",
        "boundsWidth": float(width),
        "boundsHeight": float(height),
    }
    where = {"positionX": 0.0, "positionY": 0.0, **bounds}
    obs.request(
        "SetSceneItemTransform", sceneName=scene, sceneItemId=number, sceneItemTransform=where
    )
    last = len(obs.request("GetSceneItemList", sceneName=scene)["sceneItems"]) - 1
    obs.request("SetSceneItemIndex", sceneName=scene, sceneItemId=number, sceneItemIndex=last)


def _scene_item_id(obs: "Obs", scene: str) -> int:
    items = obs.request("GetSceneItemList", sceneName=scene)["sceneItems"]
    found = [int(item["sceneItemId"]) for item in items if item["sourceName"] == INPUT_NAME]
    if found:
        return found[0]
    return int(
        obs.request("CreateSceneItem", sceneName=scene, sourceName=INPUT_NAME)["sceneItemId"]
    )


def _kind_without_version(kind: str) -> str:
    """A kind of source without its version."""
    return kind.partition("_v")[0]


# --- without a browser source ---


def feed_until_stopped(opened: "Callable[[], Obs]", scene: str, overlay: str) -> None:
    """Feed a slide show until Ctrl-C, through restarts of OBS and of the live server; then it is empty."""
    with tempfile.TemporaryDirectory(prefix="overruler-") as folder:
        with opened() as obs:  # what is wrong from the first is said, and ends it
            SlideShow(obs, Path(folder)).put_in_scene(scene)
        print(
            f"{INPUT_NAME}: an image slide show in the scene {scene!r}, fed until Ctrl-C",
            flush=True,
        )
        said = ""
        while True:
            try:
                with opened() as obs:
                    _mirror_overlay(SlideShow(obs, Path(folder)), scene, overlay)
            except (
                CannotMeasure,
                BadInput,
            ) as error:  # a restarted OBS answers before it has its scenes
                if str(error) != said:
                    print(f"overruler: {error}; trying again", file=sys.stderr, flush=True)
                said = str(error)
                time.sleep(RECONNECT_DELAY_S)


@dataclass
class SlideShow:
    """The one picture of a slide show in OBS."""

    obs: "Obs"
    folder: Path
    png: bytes = b""
    """What it shows."""

    def put_in_scene(self, scene: str) -> None:
        """Show nothing, in front of everything in a scene; `BadInput` where OBS has no slide shows."""
        kinds = [
            kind
            for kind in self.obs.request("GetInputKindList")["inputKinds"]
            if _kind_without_version(kind) == SLIDESHOW_KIND
        ]
        if not kinds:
            raise BadInput(
                "this OBS has neither browser sources nor image slide shows: install its own plugins"
            )
        self.png = transparent_png()
        put_input_on_top(self.obs, scene, kinds[0], self._settings())

    def show(self, png: bytes) -> None:
        """Hold a picture for `SLIDE_TIME_S` more."""
        if png == self.png:
            self.obs.request(
                "TriggerMediaInputAction", inputName=INPUT_NAME, mediaAction=RESTART_ACTION
            )
            return
        self.png = png
        self.obs.request("SetInputSettings", inputName=INPUT_NAME, inputSettings=self._settings())

    def _settings(self) -> dict[str, object]:
        show = {
            "slide_mode": "mode_auto",
            "playback_behavior": "always_play",
            "loop": False,
            "hide": True,
        }
        cut = {"transition": "cut", "transition_speed": 0, "slide_time": round(1000 * SLIDE_TIME_S)}
        return {
            "files": [{"value": str(self._write_next_file())}],
            "randomize": False,
            **show,
            **cut,
        }

    def _write_next_file(self) -> Path:
        """The picture in a file of a new name, for OBS keeps what it has read; it may still be reading the last one."""
        old = sorted(self.folder.glob("*.png"))
        for path in old[:-1]:
            path.unlink()
        number = int(old[-1].stem) + 1 if old else 0
        path = self.folder / f"{number:09}.png"
        path.write_bytes(self.png)
        return path


def _mirror_overlay(slide: SlideShow, scene: str, overlay: str) -> None:
    """Show the overlay as it is on air, whenever it changes."""
    slide.put_in_scene(scene)
    try:
        tag = ""
        while True:
            tag = poll_overlay(slide, overlay, tag)
            time.sleep(POLL_INTERVAL_S)
    finally:
        slide.show(transparent_png())


def poll_overlay(slide: SlideShow, overlay: str, tag: str = "") -> str:
    """One look at what is on air; nothing where the server does not say.

    `tag` is the picture's that is shown now, the answer that of the new one: the same one is not drawn again.
    """
    parts = urlsplit(overlay)
    asked = urllib.request.Request(
        parts._replace(path=f"{parts.path}.png").geturl(), headers={"if-none-match": tag}
    )
    png, tag = transparent_png(), ""
    try:
        with urllib.request.urlopen(asked, timeout=ANSWER_TIMEOUT_S) as answer:
            png, tag = answer.read(), answer.headers.get("etag", "")
    except HTTPError as error:
        error.close()
        if error.code == NOT_MODIFIED:
            png, tag = slide.png, asked.get_header("If-none-match") or ""
    except (URLError, OSError):
        pass
    slide.show(png)
    return tag


def transparent_png() -> bytes:
    """A picture of nothing."""
    import io

    from PIL import Image

    out = io.BytesIO()
    Image.new("RGBA", (16, 9)).save(out, "PNG")
    return out.getvalue()
