"""Where the user's own file is."""

import os
import sys
from pathlib import Path

CONFIG_VARIABLE = "OVERRULER_CONFIG"
"""Environment variable with the path of another file; empty for no file."""


def config_path() -> Path | None:
    """The path of the user's file, which need not exist; None where the user wants none."""
    path = os.environ.get(CONFIG_VARIABLE)
    if path is not None:
        return Path(path).expanduser() if path else None
    return _config_folder() / "overruler" / "config.toml"


def _config_folder() -> Path:
    """The folder of a user's configurations; Linux is answered here, as platformdirs loads much."""
    if sys.platform != "linux":
        from platformdirs import user_config_path

        return user_config_path()
    told = os.environ.get("XDG_CONFIG_HOME", "")
    return Path(told) if told.strip() else Path("~/.config").expanduser()
