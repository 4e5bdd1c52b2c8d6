"""A history that somebody ends before its time: by Ctrl-C, or by SIGTERM."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class EndedEarly(BaseException):
    """Raised in the midst of whatever goes on; as `KeyboardInterrupt` no error that is to be caught."""

    def __init__(self, number: int) -> None:
        super().__init__(f"ended by {signal.Signals(number).name}")
        self.status = 128 + number
        """The exit status that a shell gives it."""


@contextmanager
def ends_early() -> Iterator[None]:
    """While the block runs, raise `EndedEarly` at each such signal."""

    def end(number: int, _frame: FrameType | None) -> None:
        raise EndedEarly(number)

    before = [(number, signal.signal(number, end)) for number in SIGNALS]
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)
