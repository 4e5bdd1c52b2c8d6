"""What holds for all tests."""

from hypothesis import settings

# How long an example takes says nothing about the code: machines differ, and are busy.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
