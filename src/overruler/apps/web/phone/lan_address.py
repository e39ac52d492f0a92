"""This machine's address on its network, QR codes of addresses, and listening sockets."""

import errno
import io
import ipaddress
import socket
from typing import Any

DOCUMENTATION_ADDRESS = ("192.0.2.1", 9)
"""An address reserved for examples (RFC 5737): connecting a datagram socket to it sends nothing."""
WRONG_HOST_ERRORS = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT, errno.EINVAL)
"""What the system says of an address that is not the machine's own."""
LISTEN_BACKLOG = 128
"""Connections that may wait to be accepted."""


def find_lan_address() -> str | None:
    """This machine's address on its network, or None if it is on none. Sends nothing."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(DOCUMENTATION_ADDRESS)  # only chooses a route
            address: str = probe.getsockname()[0]
        except OSError:
            return None
    return None if address.startswith(("127.", "0.")) else address


def host_names(own: str | None) -> set[str]:
    """Names of this machine: those of the loopback, and with its address `own` those on its network."""
    names = {"localhost", "127.0.0.1", "[::1]"}
    if own:
        host = socket.gethostname().lower()
        names |= {own, host, f"{host}.local"}
    return names


def terminal_qr_code(url: str) -> str:
    """A QR code of an address in block letters, for a terminal."""
    import segno

    out = io.StringIO()
    segno.make(url, error="l").terminal(out, compact=True)
    return out.getvalue()


def svg_qr_code(url: str) -> dict[str, Any]:
    """An address and its QR code: an SVG path of strokes one unit wide, `size` units to a side."""
    import segno

    strokes = []
    rows = [list(row) for row in segno.make(url, error="m").matrix]
    for y, row in enumerate(rows):
        strokes += [f"M{x} {y}h1" for x, dark in enumerate(row) if dark]
    return {"url": url, "size": len(rows), "path": "".join(strokes)}


def describe_listen_error(error: OSError | OverflowError | ValueError, host: str, port: int) -> str:
    """Say why nothing can listen at an address and a port, and what to do."""
    if isinstance(error, OverflowError):
        return f"--port: must be from 0 to 65535, is {port}"
    wrong_host = not isinstance(error, OSError) or error.errno in WRONG_HOST_ERRORS
    if wrong_host or isinstance(error, socket.gaierror):
        return f"--host: {host} is no address of this machine: leave it out, or name its address"
    reason = getattr(error, "strerror", None) or error
    return f"cannot listen at {host}, port {port}: {reason}; --port chooses another"


def open_listener(host: str, port: int) -> socket.socket:
    """Open a listening socket; raise `OSError`, or `OverflowError` for the port, where that fails."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol is named: asyncio sends without delay (TCP_NODELAY) only where it is.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6 and ipaddress.IPv6Address(host).is_unspecified:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)  # IPv4 as well
        listener.bind((host, port))
        listener.listen(LISTEN_BACKLOG)  # at once: a second server on this port must fail
    except (OSError, OverflowError, ValueError):
        listener.close()
        raise
    return listener
