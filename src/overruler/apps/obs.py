"""`overruler obs`: puts the overlay into a running OBS, or makes a stinger for it.

An OBS with browser sources shows the overlay's page. Without them it gets an image slide show, to which
the command sends the overlay as a PNG with alpha for as long as it runs. The show has one slide and
hides itself at its end, which the command keeps delaying. So OBS removes a ruling from the air by itself
when the command is killed or hangs.
"""

import argparse
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit

from overruler.apps.commands import WordWithExample, refuse_options
from overruler.apps.live import DEFAULT_PORT as LIVE_PORT
from overruler.apps.web.live.look import Look, read_look
from overruler.errors import BadInput, CannotMeasure
from overruler.picture import transparent_png
from overruler.picture.answer_style import YES_COLOUR
from overruler.picture.films import check_film_ending
from overruler.writing import check_writable, write_atomically

if TYPE_CHECKING:
    from overruler.sources.obs import Obs

INPUT_NAME = "Overruler overlay"
"""Name of the overlay's source in OBS."""
USUAL_OVERLAY = f"http://localhost:{LIVE_PORT}/overlay"
"""The overlay's address unless the server is told otherwise."""
SETUP_OPTIONS = ("host", "port", "scene", "overlay", "image")
"""Options that go with `setup` alone."""
STINGER_OPTIONS = ("out", "words", "look")
"""Options that go with `stinger` alone."""
BROWSER_KIND = "browser_source"
SLIDESHOW_KIND = "slideshow"
POLL_INTERVAL_S = 0.1
"""Time between two requests for the overlay."""
SLIDE_TIME_S = 1.0
"""Time after which OBS hides a picture that is not shown again."""
RESTART_ACTION = "OBS_WEBSOCKET_MEDIA_INPUT_ACTION_RESTART"
ANSWER_TIMEOUT_S = 1.0
"""Time after which a live server that does not answer counts as having nothing on air."""
MAX_OVERLAY_BYTES = 50_000_000
"""Most bytes that are read of an overlay's picture."""
NOT_MODIFIED = 304
"""HTTP status of an overlay that has not changed."""
RECONNECT_DELAY_S = 2.0
"""Time before the next attempt to reach an OBS that is gone."""
MAX_STRIPES = 3
"""Most players whose colours a stinger shows."""
REMOVAL_DELAY_S = 0.5
"""OBS removes a source a little later than it answers."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    action = "setup: create the overlay's source, or mend it; stinger: make a film of a transition"
    parser.add_argument("action", action=WordWithExample, command="obs", help=action)
    obs = "the running OBS (its password: the environment variable OBS_PASSWORD)"
    option = parser.add_argument_group(obs).add_argument
    option("--host", help="where it runs (localhost)")
    option("--port", type=int, help="its WebSocket's port (4455)")
    option("--scene", metavar="NAME", help="the scene to put it in (the one on air)")
    option = parser.add_argument_group("what is shown").add_argument
    option("--overlay", metavar="URL", help=f"the overlay's address ({USUAL_OVERLAY})")
    image = "feed a slide show, even where OBS has a browser source"
    option("--image", action="store_true", help=image)
    option = parser.add_argument_group("the stinger").add_argument
    option("--out", type=Path, metavar="OUT.webm", help="where the stinger goes")
    option("--words", help="the words on it (Ruling)")
    option("--look", type=Path, metavar="LOOK.toml", help="its colours and logo, as for live")


def run(args: argparse.Namespace) -> int:
    makes = args.action == "stinger"
    other, names = ("setup", SETUP_OPTIONS) if makes else ("stinger", STINGER_OPTIONS)
    refuse_options(args, names, f"goes with overruler obs {other}: leave it away here")
    return make_stinger(args) if makes else _set_up(args)


def make_stinger(args: argparse.Namespace) -> int:
    """Write a stinger, whole or not at all, and say what OBS needs to know of it."""
    if args.out is None or args.out.suffix.lower() != ".webm":
        raise BadInput("stinger: --out OUT.webm says where it goes; the name must end in .webm")
    check_writable(args.out)
    check_film_ending(args.out)
    look = read_look(args.look) if args.look else Look()
    colours = tuple(player.colour for player in look.players.values() if player.colour)
    from overruler.picture.films import stinger

    shown = stinger.StingerLook(
        words="Ruling" if args.words is None else args.words,
        plate=look.plate,
        ink=look.ink,
        stripes=colours[:MAX_STRIPES] or (YES_COLOUR,),
        logo=look.logo,
    )
    write_atomically(args.out, stinger.encode_stinger(shown))
    print(f"written: {args.out}; its transition point in OBS is {1000 * stinger.CUT_S:.0f} ms")
    return 0


def _set_up(args: argparse.Namespace) -> int:
    from overruler.sources.obs import Obs

    overlay: str = USUAL_OVERLAY if args.overlay is None else args.overlay
    _check_overlay_address(overlay)
    given = {name: getattr(args, name) for name in ("host", "port")}
    place = {name: value for name, value in given.items() if value is not None}
    with Obs(**place) as obs:
        scene = args.scene or obs.request("GetCurrentProgramScene")["currentProgramSceneName"]
        kinds = obs.request("GetInputKindList")["inputKinds"]
        if BROWSER_KIND in kinds and not args.image:
            width, height = _canvas_size_px(obs)
            page: dict[str, object] = {"url": overlay, "width": width, "height": height}
            page |= {"fps_custom": False, "shutdown": False}
            put_input_on_top(obs, scene, BROWSER_KIND, page)
            print(f"{INPUT_NAME}: a browser source in the scene {scene!r}")
            return 0
    feed_until_stopped(lambda: Obs(**place), scene, overlay)
    return 0


def _check_overlay_address(address: str) -> None:
    try:
        parts = urlsplit(address)
        is_web_address = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        parts, is_web_address = urlsplit(""), False
    if not is_web_address or not parts.path.endswith("/overlay"):
        raise BadInput(
            f"--overlay: expected the address that overruler live prints, found {address!r}"
        )


def _canvas_size_px(obs: "Obs") -> tuple[int, int]:
    video = obs.request("GetVideoSettings")
    return int(video["baseWidth"]), int(video["baseHeight"])


def put_input_on_top(obs: "Obs", scene: str, kind: str, settings: dict[str, object]) -> None:
    """Create or update the overlay's source, in front of everything in a scene and as large as the canvas."""
    inputs = obs.request("GetInputList")["inputs"]
    kind_by_name = {item["inputName"]: _kind_without_version(item["inputKind"]) for item in inputs}
    known_kind = kind_by_name.get(INPUT_NAME)
    if known_kind is not None and known_kind != _kind_without_version(kind):
        obs.request("RemoveInput", inputName=INPUT_NAME)
        time.sleep(REMOVAL_DELAY_S)
        known_kind = None
    if known_kind is None:
        new_input = {"inputName": INPUT_NAME, "inputKind": kind, "inputSettings": settings}
        number = obs.request("CreateInput", sceneName=scene, **new_input)["sceneItemId"]
    else:
        obs.request("SetInputSettings", inputName=INPUT_NAME, inputSettings=settings)
        number = _scene_item_id(obs, scene)
    width, height = _canvas_size_px(obs)
    transform = {
        "positionX": 0.0,
        "positionY": 0.0,
        "boundsType": "OBS_BOUNDS_STRETCH",
        "boundsWidth": float(width),
        "boundsHeight": float(height),
    }
    item = {"sceneName": scene, "sceneItemId": number}
    obs.request("SetSceneItemTransform", **item, sceneItemTransform=transform)
    last = len(obs.request("GetSceneItemList", sceneName=scene)["sceneItems"]) - 1
    obs.request("SetSceneItemIndex", **item, sceneItemIndex=last)


def _scene_item_id(obs: "Obs", scene: str) -> int:
    """The item of the overlay's source in a scene, which is created where it is missing."""
    for item in obs.request("GetSceneItemList", sceneName=scene)["sceneItems"]:
        if item["sourceName"] == INPUT_NAME:
            return int(item["sceneItemId"])
    item = obs.request("CreateSceneItem", sceneName=scene, sourceName=INPUT_NAME)
    return int(item["sceneItemId"])


def _kind_without_version(kind: str) -> str:
    """The kind of a source without its version suffix."""
    return kind.partition("_v")[0]


# --- without a browser source ---


def feed_until_stopped(connect: "Callable[[], Obs]", scene: str, overlay: str) -> None:
    """Feed a slide show until Ctrl-C, also when OBS or the live server restarts; then empty it."""
    with tempfile.TemporaryDirectory(prefix="overruler-") as folder:
        with connect() as obs:  # an error in the first connection ends the command
            SlideShow(obs, Path(folder)).put_in_scene(scene)
        about = f"{INPUT_NAME}: an image slide show in the scene {scene!r}, fed until Ctrl-C"
        print(about, flush=True)
        reported = ""
        while True:
            try:
                with connect() as obs:
                    _mirror_overlay(SlideShow(obs, Path(folder)), scene, overlay)
            except (CannotMeasure, BadInput) as error:
                # A restarted OBS answers before it has its scenes.
                if str(error) != reported:
                    print(f"overruler: {error}; trying again", file=sys.stderr, flush=True)
                reported = str(error)
                time.sleep(RECONNECT_DELAY_S)


@dataclass(slots=True)
class SlideShow:
    """A slide show of one picture in OBS."""

    obs: "Obs"
    folder: Path
    """Folder of the picture's files."""
    png: bytes = b""
    """The picture that it shows."""

    def put_in_scene(self, scene: str) -> None:
        """Show an empty picture in front of a scene; `BadInput` where OBS has no slide shows."""
        known = self.obs.request("GetInputKindList")["inputKinds"]
        kinds = [kind for kind in known if _kind_without_version(kind) == SLIDESHOW_KIND]
        if not kinds:
            raise BadInput(
                "this OBS has neither browser sources nor image slide shows: install its own plugins"
            )
        self.png = transparent_png()
        put_input_on_top(self.obs, scene, kinds[0], self._settings())

    def show(self, png: bytes) -> None:
        """Show a picture for another `SLIDE_TIME_S`."""
        if png == self.png:
            action = {"inputName": INPUT_NAME, "mediaAction": RESTART_ACTION}
            self.obs.request("TriggerMediaInputAction", **action)
            return
        self.png = png
        self.obs.request("SetInputSettings", inputName=INPUT_NAME, inputSettings=self._settings())

    def _settings(self) -> dict[str, object]:
        return {
            "files": [{"value": str(self._write_next_file())}],
            "randomize": False,
            "slide_mode": "mode_auto",
            "playback_behavior": "always_play",
            "loop": False,
            "hide": True,
            "transition": "cut",
            "transition_speed": 0,
            "slide_time": round(1000 * SLIDE_TIME_S),
        }

    def _write_next_file(self) -> Path:
        """Write the picture under a new name, for OBS caches files by name; it may still read the last one."""
        old = sorted(self.folder.glob("*.png"))
        for path in old[:-1]:
            path.unlink()
        number = int(old[-1].stem) + 1 if old else 0
        path = self.folder / f"{number:09}.png"
        path.write_bytes(self.png)
        return path


def _mirror_overlay(slide: SlideShow, scene: str, overlay: str) -> None:
    """Show the overlay, and update it whenever it changes."""
    slide.put_in_scene(scene)
    try:
        tag = ""
        while True:
            tag = poll_overlay(slide, overlay, tag)
            time.sleep(POLL_INTERVAL_S)
    finally:
        slide.show(transparent_png())


def poll_overlay(slide: SlideShow, overlay: str, tag: str = "") -> str:
    """Fetch the overlay once and show it; show an empty picture where the server does not answer.

    `tag` is the ETag of the picture that is shown; the result is that of the new one.
    """
    parts = urlsplit(overlay)
    address = parts._replace(path=f"{parts.path}.png").geturl()
    request = urllib.request.Request(address, headers={"if-none-match": tag})
    png, new_tag = transparent_png(), ""
    try:
        with urllib.request.urlopen(request, timeout=ANSWER_TIMEOUT_S) as answer:
            png, new_tag = answer.read(MAX_OVERLAY_BYTES), answer.headers.get("etag", "")
    except HTTPError as error:
        error.close()
        if error.code == NOT_MODIFIED:
            png, new_tag = slide.png, tag
    except (URLError, OSError, HTTPException):
        pass
    slide.show(png)
    return new_tag
