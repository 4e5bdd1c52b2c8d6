"""One call for all who ask at the same time: a thousand jobs must not cost a thousand lists."""

import threading
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

Ask = TypeVar("Ask")
Answer = TypeVar("Answer")


class _Round(Generic[Ask, Answer]):
    """What was asked for while another call was under way, and what came of it."""

    def __init__(self) -> None:
        self.asks: list[Ask] = []
        self.over = False
        self._answer: Answer | None = None
        self._error: Exception | None = None

    def run(self, call: Callable[[Sequence[Ask]], Answer]) -> None:
        try:
            self._answer = call(self.asks)
        except Exception as error:  # noqa: BLE001 - raised again by everybody who asked
            self._error = error
        self.over = True

    def answer(self) -> Answer:
        if self._error is not None:
            raise self._error
        assert self._answer is not None  # noqa: S101 - without an error there is an answer
        return self._answer


class Together(Generic[Ask, Answer]):
    """Makes one call at a time. Whoever asks meanwhile waits, and the next call is for all of them.

    So an answer never began before it was asked for, as if each had called alone.
    """

    def __init__(self, call: Callable[[Sequence[Ask]], Answer]) -> None:
        self._call = call
        self._joining = threading.Lock()
        self._calling = threading.Lock()
        self._next: _Round[Ask, Answer] = _Round()

    @property
    def waiting(self) -> int:
        """How many wait for the next call to begin."""
        return len(self._next.asks)

    def ask(self, what: Ask) -> Answer:
        """The answer to this, and whatever else was asked for; its error is everybody's."""
        with self._joining:
            mine = self._next
            mine.asks.append(what)
        with self._calling:
            if not mine.over:
                with self._joining:
                    self._next = _Round()
                mine.run(self._call)
        return mine.answer()
