"""A sweep as a process of its own: stopped, failed or killed at any call, and gone on with later.

Each sweep that may be stopped is a greenlet. It gives the control back before a call of a port, so that
the history decides which sweep is next; all of it runs on one thread, and the same history always runs the
same way.
"""

import contextlib
import io
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Protocol

import msgspec
from greenlet import getcurrent, greenlet

from spotwarden.model.tick import Tick
from spotwarden.ports import Cloud, RejectedError, UnansweredError
from tests.simulation.commands import Then

ON_VMS = {"launch", "start", "stop", "delete", "label", "remove"}
CHANGES = ON_VMS | {"write", "delete_all", "publish", "publish_all", "send"}
ASKS = {"launch", "start"}


def deleted(arguments: tuple[Any, ...], named: Mapping[str, Any]) -> Mapping[str, int | None]:
    """The objects that a delete, or one of many at once, is about, and the generation of each."""
    match arguments:
        case (Mapping() as generations,):
            return generations
        case (str(name),):
            return {name: named.get("generation")}
    raise TypeError(f"not a delete of objects: {arguments}")


class Killed(BaseException):
    """The process is gone, without a word."""


class Observer(Protocol):
    """Whoever wants to know what a process asks of the ports."""

    def asking(self, process: "Process", call: str, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Be told before a call is carried out; what is given back comes with `asked`."""

    def asked(self, process: "Process", call: str, arguments: tuple[Any, ...], before: Any) -> None:
        """Be told once it was."""


class Process:
    """One sweep, not yet begun. `began` is its place in the order of all things.

    `looked` is what it was shown of single VMs by its latest calls, by id: nothing else was asked since.
    `unaware` are the jobs whose script somebody has run by hand since it last listed VMs.
    """

    def __init__(self, tick: Tick, began: int, observer: Observer) -> None:
        self.tick = tick
        self.began = began
        self.observer = observer
        self.calls = 0
        self.lost = 0
        self.swept: Any = None
        self.failure: BaseException | None = None
        self.alive = False
        self.looked: dict[str, Any] = {}
        self.unaware: set[str] = set()
        self._sweep: Callable[[], object] = bool
        self._left = 0
        self._changes = False
        self._then = Then.GO_ON
        self._body: greenlet | None = None

    def begin(self, sweep: Callable[[Cloud], object], cloud: Cloud, wrap: Callable[[Cloud], Cloud]) -> None:
        """Get ready to sweep; nothing is called yet. `wrap` stands between the sweep and the ports."""
        doors = Cloud(
            store=Door(cloud.store, self),
            compute=Door(cloud.compute, self),
            notices=Door(cloud.notices, self),
            metrics=cloud.metrics,
            mailer=Door(cloud.mailer, self),
            wakeups=Door(cloud.wakeups, self),
        )
        self._sweep = partial(sweep, wrap(doors))
        self.alive = True

    def live(self) -> None:
        """Sweep, from the beginning to whatever end."""
        try:
            self.swept = self._sweep()
        except Killed:
            pass
        except Exception as failure:  # noqa: BLE001 — judged by whoever started it
            self.failure = failure
        # It holds the doors, and they hold this: what goes at once is no work for the collector of garbage.
        self._sweep = bool
        self.alive = False

    def run(self, calls: int, then: Then, *, changes: bool = False) -> None:
        """Make so many calls, the last of them with that fate, then wait; with `GO_ON` run to the end."""
        if not self.alive:
            return
        self._left, self._then, self._changes = (-1 if then is Then.GO_ON else max(calls, 1)), then, changes
        if self._body is None and then is Then.GO_ON:
            self.live()  # It never waits, and needs no stack of its own.
            return
        if self._body is None:
            self._body = _IDLE.pop() if _IDLE else greenlet(_serve)
        self._body.parent = getcurrent()
        self._body.switch(self)

    def kill(self) -> None:
        """End it where it stands."""
        if self.alive and self._body is not None:
            self._body.parent = getcurrent()
            self._body.throw(Killed)
        self.alive = False

    def passes(self, *, changes: bool) -> bool:
        """Wait for the turn to make one call more; whether nothing befalls that call."""
        if self._left == 0:
            assert self._body is not None
            self._body.parent.switch()
        self.calls += 1
        if self._changes and not changes:
            return True
        self._left -= 1
        return self._left != 0

    def last(self, call: str, work: Callable[[], Any]) -> Any:
        """Carry out the last call before it waits again, with the fate that it has."""
        match self._then:
            case Then.KILL_BEFORE:
                raise Killed
            case Then.LOST_BEFORE:
                self.lost += 1
                raise UnansweredError("made up: no answer")
            case Then.REFUSED if call in ASKS:
                self.lost += 1
                raise RejectedError("quotaExceeded", "made up: no quota")
        result = work()
        match self._then:
            case Then.KILL_AFTER:
                raise Killed
            case Then.LOST_AFTER:
                self.lost += 1
                raise UnansweredError("made up: no answer")
        return result


_IDLE: list[greenlet] = []
"""Greenlets whose sweep is over: a new one takes longer to make than many a sweep to go on."""


def _serve(process: Process) -> None:
    """Be the stack of one sweep after another."""
    here = getcurrent()
    while True:
        process.live()
        _IDLE.append(here)
        process = here.parent.switch()


class Door:
    """A port as one process sees it."""

    __slots__ = ("port", "process")

    def __init__(self, port: object, process: Process) -> None:
        self.port = port
        self.process = process

    def __getattr__(self, call: str) -> Callable[..., Any]:
        # All doors have the method from now on: there are as many doors as sweeps, but few calls.
        setattr(Door, call, (_change if call in CHANGES else _look)(call))
        made: Callable[..., Any] = getattr(self, call)
        return made


def _look(call: str) -> Callable[..., Any]:
    """A call that changes nothing, and that nobody watches."""

    def made(door: Door, *arguments: Any, **named: Any) -> Any:
        do, process = getattr(door.port, call), door.process
        if process.passes(changes=False):
            found = do(*arguments, **named)
        else:
            found = process.last(call, partial(do, *arguments, **named))
        if call == "resource":
            process.looked[arguments[1]] = found
        elif process.looked:
            process.looked.clear()
        if call == "instances" and process.unaware:
            process.unaware.clear()
        return found

    return made


def _change(call: str) -> Callable[..., Any]:
    """A call whose beginning and end are told to whoever watches."""

    def watched(door: Door, *arguments: Any, **named: Any) -> Any:
        do, process = getattr(door.port, call), door.process
        before = process.observer.asking(process, call, arguments, named)
        result = do(*arguments, **named)
        process.observer.asked(process, call, arguments, before)
        process.looked.clear()
        return result

    def made(door: Door, *arguments: Any, **named: Any) -> Any:
        if door.process.passes(changes=True):
            return watched(door, *arguments, **named)
        return door.process.last(call, partial(watched, door, *arguments, **named))

    return made


class Count(msgspec.Struct, kw_only=True):
    """What was made of a history, in numbers."""

    events: int = 0
    sweeps: int = 0
    calls: int = 0
    kills: int = 0
    faults: int = 0
    switches: int = 0
    recoveries: int = 0
    given_up: int = 0
    mails: int = 0
    removed: int = 0
    moves: int = 0

    def add(self, other: "Count") -> None:
        """Take in the numbers of another."""
        for name in self.__struct_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


class _Nowhere(io.TextIOBase):
    """Takes text and forgets it."""

    def write(self, text: str) -> int:
        return len(text)


def silenced() -> contextlib.redirect_stdout[io.TextIOBase]:
    """Swallow the log lines of the sweeps."""
    return contextlib.redirect_stdout(_Nowhere())
