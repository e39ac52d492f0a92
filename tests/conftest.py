"""Laws are tried on the same examples every time; `pytest --hypothesis-profile=roaming` looks for new ones."""

from hypothesis import settings

settings.register_profile("steady", derandomize=True)
settings.register_profile("roaming", derandomize=False)
settings.load_profile("steady")
