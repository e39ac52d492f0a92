"""Laws are tried on the same examples every time; `pytest --hypothesis-profile=roaming` looks for new ones."""

from hypothesis import HealthCheck, settings

# How long examples take to draw says how busy the machine is, not whether a law holds.
settings.register_profile("steady", derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("roaming", derandomize=False)
settings.load_profile("steady")
