"""Finds the types that are built when they are used, rather than at the import of who reads them."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import pytest

from spotwarden import typed

MAIN = {"read_value", "read_one"}
"""What may build a type when it reads it, in the main thread."""


class FirstUse:
    """Stands before `typed._build`, and notes what it is asked for outside of an import."""

    def __init__(self) -> None:
        self.late: list[str] = []
        self.build = typed._build

    def __call__(self, kind: Any, *, strict: bool) -> Any:
        """Build it, and note where it is late."""
        names = list(_callers())
        # A policy's values are plain: enumerations, numbers, times. They are read before any pool starts, and
        # tests read sweeps that were recorded in place of the command that does.
        main = threading.current_thread() is threading.main_thread()
        allowed = main and not MAIN.isdisjoint(names)
        # A type that a test has made up cannot be known to any import.
        if "<module>" not in names and not allowed and "tests." not in str(kind):
            self.late.append(f"{kind} in {threading.current_thread().name}: {' < '.join(names[:6])}")
        return self.build(kind, strict=strict)


@contextmanager
def watched() -> Iterator[FirstUse]:
    """While this lasts, what is built late is noted."""
    with pytest.MonkeyPatch.context() as patch:
        first_use = FirstUse()
        patch.setattr(typed, "_build", first_use)
        yield first_use


def _callers() -> Iterator[str]:
    """The functions that led here, the nearest first; a module of the product as it runs is `<module>`."""
    frame: FrameType | None = sys._getframe(2)
    while frame:
        code = frame.f_code
        if code.co_name != "<module>" or "/spotwarden/" in code.co_filename:
            yield code.co_name
        frame = frame.f_back
