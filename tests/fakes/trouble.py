"""Failures on order: which calls of a fake fail, how, and how often."""

import re
import threading
from collections.abc import Callable
from copy import deepcopy
from typing import Any, TypeVar, TypeVarTuple

import msgspec

from spotwarden.ports import ConflictError, RejectedError, UnansweredError

T = TypeVar("T")
Given = TypeVarTuple("Given")


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """What a caller sees; with `after_work` the work is done all the same."""

    error: Exception
    after_work: bool = False


def conflict() -> Failure:
    """Somebody else was first."""
    return Failure(error=ConflictError("made up: somebody else was first"))


def rejected(code: str, message: str = "made up") -> Failure:
    """Compute says that it did not do it."""
    return Failure(error=RejectedError(code, message))


def unanswered(*, after_work: bool) -> Failure:
    """No answer: nothing was done, or with `after_work` all of it was."""
    return Failure(error=UnansweredError("made up: no answer"), after_work=after_work)


class _Order(msgspec.Struct, kw_only=True):
    call: str
    about: str
    failure: Failure
    left: int


class Trouble:
    """The failures in force. The first one that fits a call decides."""

    def __init__(self) -> None:
        self._orders: list[_Order] = []
        # A call is one step, whoever else is calling: that is what makes a race of two sweeps a fair one.
        self._lock = threading.RLock()

    def __deepcopy__(self, memo: dict[int, Any]) -> "Trouble":
        """The same orders for a copy of the fake; a lock has no copy."""
        copy = Trouble()
        copy._orders = deepcopy(self._orders, memo)
        return copy

    def order(self, call: str, failure: Failure, *, about: str = "", times: int = 1) -> None:
        """Make the next `times` calls fail whose method is `call` and whose subject matches `about`.

        The subject is an object's name, a request's path, an operation's name; `about` is searched in it.
        """
        self._orders.append(_Order(call=call, about=about, failure=failure, left=times))

    def calm(self) -> None:
        """Let nothing fail any more."""
        self._orders.clear()

    def around(self, call: str, subject: str, work: Callable[[*Given], T], *given: *Given) -> T:
        """Do the work with what it is given, unless a failure was ordered for it."""
        with self._lock:
            failure = self._next(call, subject) if self._orders else None
            if failure is None:
                return work(*given)
            if failure.after_work:
                work(*given)
            raise failure.error

    def _next(self, call: str, subject: str) -> Failure | None:
        for order in self._orders:
            if order.left and order.call == call and re.search(order.about, subject):
                order.left -= 1
                return order.failure
        return None


class NoTrouble(Trouble):
    """Nothing ever fails, and one thread alone calls: a simulation makes a thousand calls in a history."""

    def around(self, call: str, subject: str, work: Callable[[*Given], T], *given: *Given) -> T:
        """Do the work."""
        del call, subject
        return work(*given)
