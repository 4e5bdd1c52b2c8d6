"""What takes longer than each run of the tests should, and shows once more what others show.

Two levels: `.ci/run` plays what is `long` (SPOTWARDEN_LONG=ci); SPOTWARDEN_LONG=all plays the `longest`, too.
"""

import os
from collections.abc import Sequence
from typing import TypeVar

import pytest

Thing = TypeVar("Thing")

LEVEL = os.environ.get("SPOTWARDEN_LONG", "")
ALL = LEVEL == "all"
ASKED = ALL or LEVEL == "ci"
long = pytest.mark.skipif(
    not ASKED, reason="takes long and has a shorter sister; SPOTWARDEN_LONG=ci runs it, as .ci/run does"
)
longest = pytest.mark.skipif(
    not ALL, reason="takes many minutes and has a shorter sister; SPOTWARDEN_LONG=all runs it"
)


def examples(number: int) -> int:
    """So many examples where all is asked for, a third of them in `.ci/run`, and a fifth in each run."""
    return number if ALL else number // (3 if ASKED else 5)


def some(things: Sequence[Thing]) -> Sequence[Thing]:
    """All of these where long tests are asked for, and every third of them in each run."""
    return things if ASKED else things[::3]
