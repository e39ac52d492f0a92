"""Whether a server's certificate and key can be used, told before it begins."""

import ssl
from pathlib import Path

from overruler.errors import BadInput
from overruler.reading.files import MAX_TEXT_BYTES, read_bytes


def check_certificate(certificate: Path, key: Path) -> None:
    """Raise `BadInput` where a certificate and its key cannot be read or do not fit each other."""
    for path in (certificate, key):
        read_bytes(path, MAX_TEXT_BYTES)
    try:
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(certificate, key)
    except (ssl.SSLError, ValueError):
        raise BadInput(
            f"--tls-cert {certificate} and --tls-key {key}: are not a certificate and its key: "
            "give both in PEM"
        ) from None
