#!/usr/bin/env python3
"""Write the software bill of materials (CycloneDX 1.5) of all that a user installs.

    uv run tools/release/sbom.py                   # on standard output
    uv run tools/release/sbom.py --out sbom.json

It is made of the lock file alone: no network is needed, and the same lock gives the same bytes.
"""

import argparse
import json
import sys
import uuid
from pathlib import Path
from typing import Any

from overruler import __version__
from release.locked import PROJECT, Locked, locked_packages


def bill_of_materials(packages: list[Locked]) -> dict[str, Any]:
    """The document; its serial number follows from what is in it."""
    root = {
        "type": "application",
        "bom-ref": PROJECT,
        "name": PROJECT,
        "version": __version__,
        "purl": f"pkg:pypi/{PROJECT}@{__version__}",
    }
    components = [_component(each) for each in packages]
    content = json.dumps([root, components])
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, content)}",
        "version": 1,
        "metadata": {"component": root},
        "components": components,
    }


def _component(package: Locked) -> dict[str, Any]:
    found: dict[str, Any] = {
        "type": "library",
        "bom-ref": package.purl,
        "name": package.name,
        "version": package.version,
        "purl": package.purl,
    }
    if package.url:
        hashes = [{"alg": "SHA-256", "content": package.sha256}]
        place = {"type": "distribution", "url": package.url, "hashes": hashes}
        found["externalReferences"] = [place]
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, metavar="FILE")
    args = parser.parse_args()
    text = json.dumps(bill_of_materials(locked_packages()), indent=1) + "\n"
    if args.out:
        args.out.write_text(text)
    else:
        sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
