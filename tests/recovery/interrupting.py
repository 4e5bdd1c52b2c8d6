"""What befalls a command at one of its calls: Ctrl-C, a kill, no answer any more, or somebody else."""

from collections.abc import Callable
from typing import Any

from spotwarden.ports import UnansweredError

CHANGES = {"write", "delete", "launch", "start", "stop", "publish", "upload", "copy", "drop"}


class KilledError(BaseException):
    """The process is gone: nothing that it makes any more reaches a port."""


class Interruption:
    """What befalls a command before its n-th call, or after its n-th call that changes something."""

    def __init__(self, at: int, happen: Callable[[], object], *, after_work: bool) -> None:
        self.left = at
        self.dead: BaseException | None = None
        self._happen = happen
        self._after_work = after_work

    @property
    def came(self) -> bool:
        """Whether the command made so many calls."""
        return self.left <= 0

    def call(self, name: str, work: Callable[[], Any]) -> Any:
        """Carry out one call."""
        if self.dead is not None:
            raise self.dead
        if self._after_work and name not in CHANGES:
            return work()
        self.left -= 1
        now = self.left == 0
        if now and not self._after_work:
            self._interrupt()
        result = work()
        if now and self._after_work:
            self._interrupt()
        return result

    def _interrupt(self) -> None:
        try:
            self._happen()
        except (KilledError, UnansweredError) as end:
            self.dead = end
            raise


def killed() -> None:
    """SIGKILL."""
    raise KilledError


def ctrl_c() -> None:
    """SIGINT."""
    raise KeyboardInterrupt


def offline() -> None:
    """From now on nothing is answered."""
    raise UnansweredError("made up: connection refused")


class Door:
    """A port as an interrupted command sees it; where nothing is to befall it, the port itself."""

    def __init__(self, port: object, interruption: Interruption) -> None:
        self._port = port
        self._interruption = interruption

    def __getattr__(self, name: str) -> Any:
        port = getattr(self._port, name)
        return lambda *words, **named: self._interruption.call(name, lambda: port(*words, **named))
