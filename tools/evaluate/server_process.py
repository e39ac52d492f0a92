"""A server of its own on this machine, which is killed, started again and asked."""

import http.client
import json
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path

SAMPLES = Path(__file__).parents[2] / "sample_images"
BOARD = SAMPLES / "legion_desert.toml"
PHOTO = (SAMPLES / "legion_desert.jpg").read_bytes()
QUESTION = json.dumps({"question": "range", "from": "p01", "to": "p02"}).encode()
UPLOAD = "/api/measurements?game=legion&table=legion%20desert"
HOST = "127.0.0.1"


def free_port() -> int:
    """A port that nobody uses just now: several of these programs may run at once."""
    with socket.create_server((HOST, 0)) as door:
        return int(door.getsockname()[1])


PORT = free_port()
"""The server's port, the same at each of its starts."""
START_S = 60.0
"""Longest time that a server may take to start."""
TIMEOUT_S = 30.0
"""A request that takes longer counts as one that hangs."""
CLOCK = """
import sys, time
from pathlib import Path
real, jump = time.time, Path("clock-jump")
time.time = lambda: real() + (float(jump.read_text() or 0) if jump.exists() else 0.0)
from overruler.apps.cli import main
sys.exit(main())
"""
"""A program that runs the server by a clock which the file `clock-jump` sets, in s."""


@dataclass
class Server:
    """A server that is killed and started again, in a folder of its own."""

    folder: Path
    starts: int = 0
    process: "subprocess.Popen[bytes]" = field(init=False)

    @property
    def store(self) -> Path:
        return self.folder / "store"

    def command(self, port: int) -> list[str]:
        options = ["--board", str(BOARD), "--store", "store", "--port", str(port)]
        return [sys.executable, "-c", CLOCK, "serve", *options]

    def start(self) -> None:
        with (self.folder / "log").open("ab") as log:
            silent = subprocess.DEVNULL
            self.process = subprocess.Popen(
                self.command(PORT), cwd=self.folder, stdout=silent, stderr=log
            )
        self.starts += 1
        end_s = time.monotonic() + START_S
        while time.monotonic() < end_s:
            with suppress(OSError):
                if call("GET", "/api/about")[0] == 200:
                    return
            time.sleep(0.1)
        raise SystemExit(f"the server does not start: {self.log()[-2000:]}")

    def start_second(self) -> str:
        """Start another server on the same store; what it says before it ends."""
        command = self.command(free_port())
        try:
            done = subprocess.run(
                command, cwd=self.folder, capture_output=True, text=True, timeout=START_S
            )
        except subprocess.TimeoutExpired:
            return "runs beside the first"
        return done.stderr.strip()

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def jump_clock(self, jump_s: float) -> None:
        """Set the server's clock this far off, at once."""
        (self.folder / "clock-jump").write_text(str(jump_s))

    def memory_mb(self) -> float:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) / 1000

    def log(self) -> str:
        return (self.folder / "log").read_text(errors="replace")

    def tracebacks(self) -> int:
        return self.log().count("Traceback")


@contextmanager
def serving(
    make_store: Callable[[Server], AbstractContextManager[None]] | None = None,
) -> Iterator[Server]:
    """A server in a temporary folder; `make_store` prepares its store."""
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder))
        with make_store(server) if make_store else nullcontext():
            server.start()
            try:
                yield server
            finally:
                server.kill()


# --- requests ---


def call(
    method: str, path: str, body: bytes | None = None, most_s: float = TIMEOUT_S
) -> tuple[int, bytes]:
    """Ask the server for something; the status and the body."""
    line = http.client.HTTPConnection(HOST, PORT, timeout=most_s)
    try:
        line.request(method, path, body)
        answer = line.getresponse()
        return answer.status, answer.read()
    except http.client.HTTPException as error:
        raise ConnectionError(str(error)) from None
    finally:
        line.close()


def upload(photo: bytes = PHOTO) -> str | None:
    """Send a photo; its id, or None where the server asks to come again."""
    status, body = call("POST", UPLOAD, photo)
    return str(json.loads(body)["id"]) if status == 202 else None


def state_of(name: str) -> str:
    """The state of a measurement; `gone` if there is none."""
    return look_up(name)[0]


def look_up(name: str) -> tuple[str, str]:
    """The state of a measurement, and its step or the reason why it has none."""
    found = json.loads(call("GET", f"/api/measurements/{name}")[1])
    return str(found.get("state", "gone")), str(found.get("step", found.get("error", "")))


def wait_for(names: list[str], most_s: float) -> Counter[str]:
    """Wait until measurements have ended; the count of each state."""
    end_s = time.monotonic() + most_s
    while True:
        states = Counter(state_of(name) for name in names)
        if not states.keys() & {"queued", "measuring"} or time.monotonic() > end_s:
            return states
        time.sleep(0.5)
