"""What takes longer than each run should, and shows once more what others show: where it is asked for."""

import os

import pytest

ASKED = os.environ.get("SPOTWARDEN_LONG") == "all"
long = pytest.mark.skipif(
    not ASKED, reason="takes long and has a shorter sister; SPOTWARDEN_LONG=all runs it"
)


def examples(number: int) -> int:
    """So many examples where all is asked for, and a third of them in each run."""
    return number if ASKED else number // 3
