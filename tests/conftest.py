"""Laws are tried on the same examples every time; `pytest --hypothesis-profile=roaming` looks for new ones."""

import os

from hypothesis import HealthCheck, settings

os.environ["OVERRULER_CONFIG"] = ""  # what a developer's own file says must not change a test

# How long examples take to draw says how busy the machine is, not whether a law holds.
settings.register_profile("steady", derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("roaming", derandomize=False)
settings.load_profile("steady")
