"""Where the user's own file is."""

import os
from pathlib import Path

CONFIG_VARIABLE = "OVERRULER_CONFIG"
"""Environment variable with the path of another file; empty for no file."""


def config_path() -> Path | None:
    """The path of the user's file, which need not exist; None where the user wants none."""
    path = os.environ.get(CONFIG_VARIABLE)
    if path is not None:
        return Path(path).expanduser() if path else None
    from platformdirs import user_config_path

    return user_config_path("overruler", appauthor=False) / "config.toml"
