"""A plugin of pytest: the whole run has one mutant in it, named by SPOTWARDEN_MUTANT; "" for none."""

import os
from contextlib import ExitStack

import pytest

from tests.simulation.mutants import MUTANTS

_MUTATED = ExitStack()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Once every module that holds the thing is loaded."""
    del session
    if name := os.environ.get("SPOTWARDEN_MUTANT", ""):
        _MUTATED.enter_context(MUTANTS[name].applied())


def pytest_unconfigure() -> None:
    """Leave everything as it was."""
    _MUTATED.close()
