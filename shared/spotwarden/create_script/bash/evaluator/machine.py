"""The shell that runs on values: what it may use up, what it has found, and what is in doubt."""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from spotwarden.create_script.bash.evaluator.folder import Place, ScriptFolder, resolve
from spotwarden.create_script.bash.evaluator.frames import CallFrame, Leave
from spotwarden.create_script.bash.evaluator.state import ShellState, join_states
from spotwarden.create_script.bash.evaluator.values import Outcome, Status, Text, Variable
from spotwarden.create_script.bash.limits import MAX_ARGUMENT_BYTES, MAX_COMMANDS, Budget, nested
from spotwarden.create_script.bash.tree import Block, Node
from spotwarden.create_script.refusal import ScriptRefused
from spotwarden.create_script.request.command import ExpandedWord, SimpleCommand, Unknown

# A reason may quote a word of the script, and that may be a whole startup script.
_LONGEST_NOTE = 1_000
_LEFT_BY = {"break": "loop", "continue": "loop"}


class Arm(NamedTuple):
    """What one branch would do: the memory after it, and how it left, if it did."""

    state: ShellState
    leave: Leave | None
    expected: bool


class Programs(NamedTuple):
    """What the shell runs other than itself: trees, and commands by their words."""

    block: Callable[["Shell", Block], None]
    node: Callable[["Shell", Node], None]
    words: Callable[["Shell", list[ExpandedWord], int], None]
    text: Callable[["Shell", str, int], None]


class Shell:
    """One run of a script."""

    def __init__(
        self,
        *,
        programs: Programs,
        files: Mapping[str, bytes],
        variables: Mapping[str, Variable],
        budget: Budget,
    ) -> None:
        self.programs = programs
        self.folder = ScriptFolder(files, budget)
        self.state = ShellState(variables)
        self.budget = budget
        budget.place = lambda: self.line
        self.commands: list[SimpleCommand] = []
        self.notes: list[Unknown] = []
        self.frames = [CallFrame("shell")]
        self.unsure: list[Unknown] = []
        self.lenient = 0  # how many conditions the shell is in, where a failure does not end the script
        self.depth = 0
        self.line = 1
        self.stopped: Unknown | None = None
        self.substituted: Status = 0  # of the last command substitution in the current command
        self.option_place = (1, 1)  # the word and the letter in it where `getopts` goes on

    # --- what is in doubt

    def doubt(self) -> Unknown | None:
        """Return why it is not known whether the current command runs at all, or None if it does."""
        if self.unsure:
            return self.unsure[-1]
        return next((frame.doubt for frame in self.frames if frame.doubt), None)

    def cast_doubt(self, why: Unknown, kind: str = "shell", levels: int = 1) -> None:
        """Note that the innermost shell, function or loop may have been left here."""
        frames = [frame for frame in reversed(self.frames) if frame.kind == kind]
        if not frames:
            return
        frame = frames[min(levels, len(frames)) - 1]
        frame.doubt = frame.doubt or why
        frame.left.append(self.fork())

    def attempt(self, body: Callable[[], None], why: Unknown, *, expected: bool = False) -> Arm:
        """Run something that may or may not run, on a copy of the memory."""
        before = self.state
        self.budget.step(why.line)
        self.state = self.fork()
        self.unsure.append(why)
        leave = None
        try:
            body()
        except Leave as error:
            leave = error
        finally:
            after, self.state = self.state, before
            self.unsure.pop()
        return Arm(after, leave, expected)

    def settle(self, arms: Iterable[Arm], why: Unknown) -> None:
        """Go on with what is common to the branches of which one is taken.

        A branch that ends the script because a program failed is left out: that is what `set -e` does
        with every command. Any other way of leaving puts what follows in doubt.
        """
        arms = sorted(arms, key=lambda arm: not arm.expected)
        staying = [arm for arm in arms if arm.leave is None]
        if not staying and arms[0].leave is not None:
            raise arms[0].leave
        for arm in arms:
            if arm.leave is not None and (arm.expected or not isinstance(why, Outcome)):
                self._leave_in_doubt(arm, why)
        self.state = staying[0].state
        for arm in staying[1:]:
            self._agree(arm.state, why)

    def _leave_in_doubt(self, arm: Arm, why: Unknown) -> None:
        assert arm.leave is not None
        before, self.state = self.state, arm.state
        self.cast_doubt(why, _LEFT_BY.get(arm.leave.kind, arm.leave.kind), arm.leave.levels)
        self.state = before

    def _agree(self, other: ShellState, why: Unknown) -> bool:
        if self.state.options != other.options:
            self.cast_doubt(why)
        return join_states(self.state, other, why, self.budget)

    def agree(self, other: ShellState, why: Unknown) -> bool:
        """Keep only what is so in both memories; return whether that changed anything."""
        return self._agree(other, why)

    def framed(self, kind: str, body: Callable[[CallFrame], None]) -> None:
        """Run something that can be left, and afterwards join the ways in which it may have been."""
        frame = CallFrame(kind)
        self.frames.append(frame)
        try:
            body(frame)
        finally:
            self.frames.pop()
        for state in frame.left:
            self._agree(state, frame.doubt or Unknown(reason="", line=self.line))

    # --- running

    def fork(self) -> ShellState:
        """Return a copy of the memory."""
        self.budget.items(self.state.size)
        return self.state.fork()

    def path(self, name: str) -> Place:
        """Return where a name of a file leads from the folder that the shell is in."""
        self.budget.items(1 + name.count("/"))
        return resolve(self.state.place, name, self.line)

    def child(self, body: Callable[[], None]) -> Status:
        """Run something in a subshell and return its status."""
        before, self.state = self.state, self.fork()
        self.state.traps = {}
        lenient = self.lenient
        self.depth = nested(self.depth, self.line)
        try:
            self.framed("shell", lambda _: self._to_the_end(body))
        except Leave as leave:
            return leave.status
        else:
            return self.state.status
        finally:
            self.state, self.lenient = before, lenient
            self.depth -= 1

    def _to_the_end(self, body: Callable[[], None]) -> None:
        try:
            body()
        finally:
            self.run_exit_trap()

    def run_exit_trap(self) -> None:
        """Run what `trap` has set for the end of a shell.

        Raises:
            Refused: that is not known.
        """
        text, status = self.state.traps.pop("EXIT", None), self.state.status
        if isinstance(text, Unknown):
            raise ScriptRefused(f"the trap for EXIT is unknown: {text.reason}", line=text.line)
        if text is not None:
            self.programs.text(self, text, self.line)
            self.state.status = status

    def finish(self, status: Status) -> None:
        """Set the status of a command; under `set -e` a failure that nobody looks at ends the script."""
        self.state.status = status
        if status == 0 or self.lenient:
            return
        if isinstance(status, int):
            self._run_error_trap()
        if "errexit" not in self.state.options:
            return
        if isinstance(status, int):
            self.note(f"this fails, and `set -e` ends the script with status {status}", self.line)
            raise Leave("shell", status)
        if not isinstance(status, Outcome):
            self.cast_doubt(status)

    def _run_error_trap(self) -> None:
        inherited = "errtrace" in self.state.options or all(frame.kind != "function" for frame in self.frames)
        text = self.state.traps.get("ERR")
        if text is None or not inherited:
            return
        if isinstance(text, Unknown):
            raise ScriptRefused(f"the trap for ERR is unknown: {text.reason}", line=text.line)
        status, traps = self.state.status, self.state.traps
        self.state.traps = {}
        self.programs.text(self, text, self.line)
        self.state.status, self.state.traps = status, traps

    def note(self, reason: str, line: int) -> None:
        """Remember something worth telling about this run."""
        self.budget.pieces(1, line)
        why = Unknown(reason=reason[:_LONGEST_NOTE], line=line)
        self.stopped = why
        self.notes.append(why)

    # --- what comes out

    def emit(
        self, words: list[ExpandedWord], line: int, *, matters: bool, environment: Mapping[str, Text]
    ) -> None:
        """Hand on a command. One that `matters` must be certain in every word, and certain to run.

        Raises:
            Refused: it is not.
        """
        self.budget.pieces(len(words), line)
        self.budget.items(len(environment), line)
        doubt = self.doubt()
        if matters:
            require_certain(words, line, doubt, environment)
        if doubt is not None:
            return
        if len(self.commands) >= MAX_COMMANDS:
            raise ScriptRefused(f"the script runs more than {MAX_COMMANDS} gcloud commands", line=line)
        self.commands.append(
            SimpleCommand(
                words=tuple(words),
                line=line,
                environment={name: value for name, value in environment.items() if isinstance(value, str)},
                files=self.folder.view(self.state.place),
            )
        )


_MOST_BYTES_A_CHARACTER = 4


def require_certain(
    words: list[ExpandedWord], line: int, doubt: Unknown | None, environment: Mapping[str, Text]
) -> None:
    """Raise `ScriptRefused` where it is not known that a create runs, or with which words and variables."""
    if doubt is not None:
        reason = f"whether this create runs depends on something outside: {doubt.reason}"
        raise ScriptRefused(reason, line=doubt.line or line)
    for word in words:
        if isinstance(word.value, Unknown):
            raise ScriptRefused(word.value.reason, line=word.value.line or word.line)
        _require_short(word.value, line)
    for name, value in environment.items():
        if name.startswith("CLOUDSDK_") and isinstance(value, Unknown):
            raise ScriptRefused(f"{name} is unknown: {value.reason}", line=value.line)


def _require_short(text: str, line: int) -> None:
    if len(text) * _MOST_BYTES_A_CHARACTER <= MAX_ARGUMENT_BYTES:
        return
    if len(text.encode("utf-8", "surrogateescape")) > MAX_ARGUMENT_BYTES:
        reason = f"an argument is longer than {MAX_ARGUMENT_BYTES} bytes: Linux runs no such command"
        raise ScriptRefused(reason, line=line)
