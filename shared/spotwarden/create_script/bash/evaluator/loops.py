"""Loops, conditions and pipes: commands that run others more than once, or under a question."""

from collections.abc import Callable
from typing import NamedTuple

from msgspec.structs import replace

from spotwarden.create_script.bash.evaluator.expand import expand_text, expand_words
from spotwarden.create_script.bash.evaluator.frames import CallFrame, Leave
from spotwarden.create_script.bash.evaluator.machine import Arm, Shell
from spotwarden.create_script.bash.evaluator.memory import assign, calculate
from spotwarden.create_script.bash.evaluator.state import Stream
from spotwarden.create_script.bash.evaluator.values import Outcome, Status, Text
from spotwarden.create_script.bash.limits import MAX_ROUNDS, nested
from spotwarden.create_script.bash.tree import Block, For, ForArithmetic, Loop, Node, Select
from spotwarden.create_script.refusal import ScriptRefused
from spotwarden.create_script.request.command import Unknown


class _Cycle(NamedTuple):
    """A loop: what decides on one more round, what a round does, and what comes after each."""

    test: Callable[[], Status]
    body: Block
    step: Callable[[], object]
    line: int


def condition(shell: Shell, block: Block) -> Status:
    """Run the commands of a condition and return their status."""
    shell.lenient += 1
    try:
        shell.programs.block(shell, block)
    finally:
        shell.lenient -= 1
    return shell.state.status


def piped(shell: Shell, node: Node, *, first: bool) -> Status:
    """Run one command of a pipeline, in a subshell of its own; what comes through a pipe is not known."""

    def body() -> None:
        if not first:
            why = Unknown(reason="it is read from a pipe", line=shell.line)
            shell.state.streams[0] = Stream(why)
        shell.programs.node(shell, node)

    return shell.child(body)


def run_loop(shell: Shell, node: Loop) -> None:
    """Run `while` or `until`."""

    def test() -> Status:
        status = condition(shell, node.condition)
        if isinstance(status, int):
            return int((status == 0) == node.until)
        return status

    _repeat(shell, _Cycle(test, node.body, lambda: None, node.line))


def run_count(shell: Shell, node: ForArithmetic) -> None:
    """Run `for ((…))`."""

    def compute(written: str | Unknown) -> Status:
        if isinstance(written, str) and not written.strip():
            return 0
        value = calculate(shell, written)
        return value if isinstance(value, Unknown) else int(value == 0)

    def test() -> Status:
        shell.line = node.line
        return compute(expand_text(shell, node.condition))

    shell.line = node.line
    compute(expand_text(shell, node.start))
    _repeat(shell, _Cycle(test, node.body, lambda: compute(expand_text(shell, node.step)), node.line))


def run_for(shell: Shell, node: For) -> None:
    """Run `for name in words`."""
    waiting: list[Text] | Unknown = _items(shell, node)
    if isinstance(waiting, Unknown):
        _open_for(shell, node, waiting)
        return
    waiting.reverse()

    def test() -> Status:
        assert not isinstance(waiting, Unknown)
        if not waiting:
            return 1
        shell.line = node.line
        assign(shell, node.name, waiting.pop())
        return 0

    _repeat(shell, _Cycle(test, node.body, lambda: None, node.line))


def _items(shell: Shell, node: For) -> list[Text] | Unknown:
    if node.words is None:
        positional = shell.state.positional
        if isinstance(positional, Unknown):
            return positional
        shell.budget.items(len(positional))
        return list(positional)
    items: list[Text] = []
    for written in node.words:
        for word in expand_words(shell, written):
            if isinstance(word.value, Unknown) and word.value.splits:
                return word.value
            items.append(word.value)
    return items


def _open_for(shell: Shell, node: For, why: Unknown) -> None:
    """Run a loop over words that are not known."""

    def test() -> Status:
        assign(shell, node.name, replace(why, splits=False))
        return why

    _repeat(shell, _Cycle(test, node.body, lambda: None, node.line))


def run_select(shell: Shell, node: Select) -> None:
    """Run `select`: what a person chooses, and how often, is not known."""
    why = Unknown(reason="`select` asks a person", line=node.line)
    _repeat(shell, _Cycle(lambda: why, node.body, lambda: None, node.line))


def _repeat(shell: Shell, cycle: _Cycle) -> None:
    shell.depth = nested(shell.depth, cycle.line)
    try:
        shell.framed("loop", lambda frame: _rounds(shell, frame, cycle))
    finally:
        shell.depth -= 1


def _rounds(shell: Shell, frame: CallFrame, cycle: _Cycle) -> None:
    result: Status = 0
    while True:
        shell.budget.step(cycle.line)
        status = cycle.test()
        why = status if isinstance(status, Unknown) else frame.doubt
        if why is not None:
            _open_end(shell, cycle, why)
            return
        if status != 0 or not _round(shell, cycle.body):
            break
        result = shell.state.status
        cycle.step()
    shell.state.status = result


def _round(shell: Shell, body: Block) -> bool:
    """Run the body of a loop once; return whether the loop goes on."""
    try:
        shell.programs.block(shell, body)
    except Leave as leave:
        if leave.kind not in ("break", "continue"):
            raise
        shell.state.status = 0
        if leave.levels > 1 and _outer_loop(shell):
            raise Leave(leave.kind, leave.status, leave.levels - 1) from leave
        return leave.kind == "continue"
    return True


def _outer_loop(shell: Shell) -> bool:
    kinds = [frame.kind for frame in reversed(shell.frames[:-1])]
    return "loop" in kinds and kinds.index("loop") < min(
        (kinds.index(kind) for kind in ("function", "shell") if kind in kinds), default=len(kinds)
    )


def _open_end(shell: Shell, cycle: _Cycle, why: Unknown) -> None:
    """Go through a loop that runs an unknown number of times, until its variables have settled."""
    why = Unknown(reason=why.reason, line=why.line)

    def once() -> None:
        if _round(shell, cycle.body):
            cycle.step()
            cycle.test()

    for _ in range(MAX_ROUNDS):
        arm = shell.attempt(once, why)
        if arm.leave is not None and arm.leave.kind not in ("break", "continue"):
            shell.settle([arm, Arm(shell.fork(), None, expected=True)], why)
        if not shell.agree(arm.state, why):
            shell.state.status = Outcome(reason=why.reason, line=why.line)
            return
    raise ScriptRefused("a loop that runs an unknown number of times changes too many things", line=why.line)
