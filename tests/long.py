"""What takes longer than each run of the tests should, and shows once more what others show.

Continuous integration runs all of it (`.ci/run`), and so does whoever sets SPOTWARDEN_LONG=all.
"""

import os
from collections.abc import Sequence
from typing import TypeVar

import pytest

Thing = TypeVar("Thing")

ASKED = os.environ.get("SPOTWARDEN_LONG") == "all"
long = pytest.mark.skipif(
    not ASKED, reason="takes long and has a shorter sister; SPOTWARDEN_LONG=all runs it"
)


def examples(number: int) -> int:
    """So many examples where all is asked for, and a fifth of them in each run."""
    return number if ASKED else number // 5


def some(things: Sequence[Thing]) -> Sequence[Thing]:
    """All of these where all is asked for, and every third of them in each run."""
    return things if ASKED else things[::3]
