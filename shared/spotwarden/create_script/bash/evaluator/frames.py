"""Leaving a loop, a function or the shell before its end."""

from spotwarden.create_script.bash.evaluator.state import ShellState
from spotwarden.create_script.bash.evaluator.values import Status
from spotwarden.create_script.request.command import Unknown


class Leave(Exception):  # noqa: N818 — a jump of the script, and no fault
    """The script leaves what it is in: by `break` or `continue`, or `function` or `shell` by name."""

    def __init__(self, kind: str, status: Status = 0, levels: int = 1) -> None:
        super().__init__(kind)
        self.kind = kind
        self.status = status
        self.levels = levels


class CallFrame:
    """A loop, function or shell that can be left early.

    Where it may have been left already, `doubt` says why, and `left` holds the states it was left with.
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.doubt: Unknown | None = None
        self.left: list[ShellState] = []
