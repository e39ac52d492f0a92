"""Where on the network this machine is, and the code that a phone's camera reads."""

import io
import socket
from typing import Any


def find_lan_address() -> str | None:
    """This machine's address on its network; None where it is on none. Nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        try:
            line.connect(
                ("192.0.2.1", 9)
            )  # an address for examples: connecting only chooses a way out
            found: str = line.getsockname()[0]
        except OSError:
            return None
    return None if found.startswith(("127.", "0.")) else found


def host_names(own: str | None) -> set[str]:
    """The names that this machine goes by on its own network."""
    host = socket.gethostname().lower()
    return {"localhost", "127.0.0.1", "[::1]", *((own, host, f"{host}.local") if own else ())}


def terminal_qr_code(url: str) -> str:
    """The address as a QR code of block letters, for a terminal."""
    import segno

    out = io.StringIO()
    segno.make(url, error="l").terminal(out, compact=True)
    return out.getvalue()


def svg_qr_code(url: str) -> dict[str, Any]:
    """The address and its QR code: `path` is an SVG path of strokes one unit wide, `size` units to a side."""
    import segno

    rows = [list(row) for row in segno.make(url, error="m").matrix]
    path = "".join(
        f"M{x} {y}h1" for y, row in enumerate(rows) for x, dark in enumerate(row) if dark
    )
    return {"url": url, "size": len(rows), "path": path}


def open_listener(host: str, port: int) -> socket.socket:
    """A socket that listens there; OSError where it cannot."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    line = socket.socket(family, socket.SOCK_STREAM)
    try:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        line.bind((host, port))
        line.listen(128)  # now, so that another server at the same place is noticed
    except OSError:
        line.close()
        raise
    return line
