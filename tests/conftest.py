"""What holds for all tests."""

import gc

from hypothesis import settings

from tests.long import ASKED

# How long an example takes says nothing about the code: machines differ, and are busy.
settings.register_profile("unhurried", deadline=None, max_examples=100 if ASKED else 40)
settings.load_profile("unhurried")


def pytest_collection_finish() -> None:
    """Thousands of collected tests are there to stay: no search for garbage needs to go over them again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
