"""Laws are tried on the same examples every time; `pytest --hypothesis-profile=roaming` looks for new ones."""

import gc
import os

from hypothesis import HealthCheck, settings

os.environ["OVERRULER_CONFIG"] = ""  # what a developer's own file says must not change a test
# As in the program itself: more threads only wait by spinning, and each test process has its own.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OPENCV_FOR_THREADS_NUM", "1")

# How long an example takes says how busy the machine is, not whether a law holds.
unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("steady", unhurried, derandomize=True)
settings.register_profile("roaming", unhurried, derandomize=False)
settings.load_profile("steady")


def pytest_collection_finish() -> None:
    """Let what the whole run needs be looked through for garbage no more: half a million objects."""
    gc.collect()
    gc.freeze()
