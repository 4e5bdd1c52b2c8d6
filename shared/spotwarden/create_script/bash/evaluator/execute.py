"""Runs the commands of a script: lists, pipelines, branches, functions."""

from collections.abc import Callable
from functools import partial
from typing import Any

from spotwarden.create_script.bash.evaluator import branches, loops
from spotwarden.create_script.bash.evaluator.expand import expand_text
from spotwarden.create_script.bash.evaluator.frames import Leave
from spotwarden.create_script.bash.evaluator.machine import Arm, Shell
from spotwarden.create_script.bash.evaluator.memory import calculate
from spotwarden.create_script.bash.evaluator.redirects import redirected
from spotwarden.create_script.bash.evaluator.simple import run_simple
from spotwarden.create_script.bash.evaluator.tests import evaluate_condition
from spotwarden.create_script.bash.evaluator.values import Outcome, Status
from spotwarden.create_script.bash.limits import nested
from spotwarden.create_script.bash.tree import (
    AndOr,
    ArithmeticCommand,
    Background,
    Block,
    CaseClause,
    Condition,
    For,
    ForArithmetic,
    FunctionDefinition,
    GroupCommand,
    If,
    Loop,
    Node,
    Pipeline,
    Redirected,
    Select,
    Simple,
    Subshell,
)
from spotwarden.create_script.request.command import Unknown


def run_block(shell: Shell, block: Block) -> None:
    """Run commands one after the other."""
    for node in block.nodes:
        run_node(shell, node)


def run_node(shell: Shell, node: Node) -> None:
    """Run one command of any kind."""
    shell.budget.pieces()
    _RUNNERS[type(node)](shell, node)


def _and_or(shell: Shell, node: AndOr) -> None:
    _lenient(shell, node.first)
    for place, (operator, command) in enumerate(node.rest):
        last = place == len(node.rest) - 1
        _after(shell, operator, command, lenient=not last)


def _lenient(shell: Shell, node: Node) -> None:
    """Run a command whose failure does not end the script."""
    shell.lenient += 1
    try:
        run_node(shell, node)
    finally:
        shell.lenient -= 1


def _after(shell: Shell, operator: str, command: Node, *, lenient: bool) -> None:
    """Run `command` behind `&&` or `||`, as the status before it says."""
    status = shell.state.status
    runner = _lenient if lenient else run_node
    run = partial(runner, shell, command)
    if isinstance(status, int):
        if (status == 0) == (operator == "&&"):
            run()
    elif isinstance(status, Outcome) and status.success == (operator == "&&"):
        _expected(shell, run, status)
    else:
        arm = shell.attempt(run, status)
        shell.settle([Arm(shell.fork(), None, expected=True), arm], status)
        shell.state.status = status


def _expected(shell: Shell, run: Callable[[], None], why: Outcome) -> None:
    """Run what follows a program that is taken to succeed; only what it makes of variables stays in doubt."""
    otherwise = shell.fork()
    try:
        run()
    except Leave as leave:
        arms = [Arm(shell.state, leave, expected=True), Arm(otherwise, None, expected=False)]
        shell.settle(arms, why)
        return
    status = shell.state.status
    shell.agree(otherwise, why)
    shell.state.status = Outcome(reason=why.reason, line=why.line) if status == 0 else status


def _pipeline(shell: Shell, node: Pipeline) -> None:
    if node.negated:
        shell.lenient += 1
    try:
        statuses = _members(shell, node)
    finally:
        if node.negated:
            shell.lenient -= 1
    status = _pipeline_status(shell, statuses)
    if node.negated:
        shell.state.status = _negated(status)
    elif len(node.commands) > 1:
        shell.finish(status)


def _members(shell: Shell, node: Pipeline) -> list[Status]:
    if len(node.commands) == 1:
        run_node(shell, node.commands[0])
        return [shell.state.status]
    return [loops.piped(shell, command, first=place == 0) for place, command in enumerate(node.commands)]


def _pipeline_status(shell: Shell, statuses: list[Status]) -> Status:
    if "pipefail" not in shell.state.options:
        return statuses[-1]
    return next((status for status in reversed(statuses) if status != 0), 0)


def _negated(status: Status) -> Status:
    if isinstance(status, Outcome):
        return Outcome(reason=status.reason, line=status.line, success=not status.success)
    return status if isinstance(status, Unknown) else int(status == 0)


def _background(shell: Shell, node: Background) -> None:
    shell.child(lambda: run_node(shell, node.body))
    shell.state.status = 0


def _group(shell: Shell, node: GroupCommand) -> None:
    shell.depth = nested(shell.depth, node.line)
    try:
        run_block(shell, node.body)
    finally:
        shell.depth -= 1


def _subshell(shell: Shell, node: Subshell) -> None:
    shell.finish(shell.child(lambda: run_block(shell, node.body)))


def _function(shell: Shell, node: FunctionDefinition) -> None:
    shell.state.functions[node.name] = node
    shell.state.status = 0


def _compute(shell: Shell, node: ArithmeticCommand) -> None:
    shell.line = node.line
    shell.budget.step(node.line)
    value = calculate(shell, expand_text(shell, node.expression))
    if isinstance(value, Outcome):  # (( $? )) is true where a program has failed
        value = Outcome(reason=value.reason, line=value.line, success=not value.success)
    shell.finish(value if isinstance(value, Unknown) else int(value == 0))


def _condition(shell: Shell, node: Condition) -> None:
    shell.line = node.line
    shell.budget.step(node.line)
    shell.finish(evaluate_condition(shell, node.test))


def _redirected(shell: Shell, node: Redirected) -> None:
    redirected(shell, node.redirects, lambda: run_node(shell, node.body))


# Any: each function takes the kind of node that it stands under.
_RUNNERS: dict[type[Node], Callable[[Shell, Any], None]] = {
    Simple: run_simple,
    Pipeline: _pipeline,
    AndOr: _and_or,
    Background: _background,
    GroupCommand: _group,
    Subshell: _subshell,
    If: branches.run_if,
    Loop: loops.run_loop,
    For: loops.run_for,
    Select: loops.run_select,
    ForArithmetic: loops.run_count,
    CaseClause: branches.run_case,
    FunctionDefinition: _function,
    ArithmeticCommand: _compute,
    Condition: _condition,
    Redirected: _redirected,
}
