"""Simple commands: assignments, functions, builtins, programs."""

from collections.abc import Callable
from functools import partial

from msgspec.structs import replace

from spotwarden.create_script.bash.evaluator.builtins import BUILTINS, DECLARING
from spotwarden.create_script.bash.evaluator.declare import declare
from spotwarden.create_script.bash.evaluator.expand import expand_words
from spotwarden.create_script.bash.evaluator.frames import Leave
from spotwarden.create_script.bash.evaluator.machine import Shell
from spotwarden.create_script.bash.evaluator.programs import run_program
from spotwarden.create_script.bash.evaluator.redirects import apply, redirected
from spotwarden.create_script.bash.evaluator.store import store
from spotwarden.create_script.bash.evaluator.values import Text, Variable
from spotwarden.create_script.bash.limits import nested
from spotwarden.create_script.bash.tree import FunctionDefinition, Simple
from spotwarden.create_script.bash.words import Assignment
from spotwarden.create_script.bash.words import Word as Written
from spotwarden.create_script.request.command import ExpandedWord, Unknown


def run_simple(shell: Shell, node: Simple) -> None:
    """Run one simple command."""
    shell.line = node.line
    shell.budget.step(node.line)
    shell.substituted = 0
    words = _words(shell, node)
    if not words:
        _assign_only(shell, node)
        return
    name = words[0].value
    if name == "exec" and len(words) == 1:
        shell.state.status = 0 if apply(shell, node.redirects) else 1
        return
    if isinstance(name, str) and name in DECLARING:
        arguments = [word for word in node.words[1:] if isinstance(word, Assignment)]
        redirected(shell, node.redirects, lambda: shell.finish(declare(shell, name, words, arguments)))
        return
    run: Callable[[], None] = partial(run_words, shell, words, node.line)
    if node.redirects:
        run = partial(redirected, shell, node.redirects, run)
    if node.assignments:
        _with_environment(shell, node, run)
    else:
        run()


def _words(shell: Shell, node: Simple) -> list[ExpandedWord]:
    words: list[ExpandedWord] = []
    for written in node.words:
        if isinstance(written, Written):
            words.extend(expand_words(shell, written))
    return words


def _assign_only(shell: Shell, node: Simple) -> None:
    for assignment in node.assignments:
        store(shell, assignment)
    if node.redirects and not apply(shell, node.redirects):
        shell.finish(1)
        return
    shell.finish(shell.substituted)


def _with_environment(shell: Shell, node: Simple, run: Callable[[], None]) -> None:
    """Run a command with variables that only it sees."""
    before = {assignment.name: shell.state.find(assignment.name) for assignment in node.assignments}
    for assignment in node.assignments:
        store(shell, assignment)
        variable = shell.state.find(assignment.name)
        if variable is not None:
            shell.state.put(assignment.name, replace(variable, exported=True))
    try:
        run()
    finally:
        for known, variable in before.items():
            _restore(shell, known, variable)


def _restore(shell: Shell, name: str, variable: Variable | None) -> None:
    if variable is None:
        shell.state.drop(name)
    else:
        shell.state.put(name, variable)


def run_words(shell: Shell, words: list[ExpandedWord], line: int) -> None:
    """Run a command by its words: a function, a builtin, or a program."""
    shell.line = line
    shell.budget.pieces()
    name = words[0].value
    function = shell.state.functions.get(name) if isinstance(name, str) else None
    if isinstance(function, FunctionDefinition):
        call(shell, function, [word.value for word in words[1:]])
    elif isinstance(function, Unknown):
        shell.cast_doubt(function)
        shell.finish(function)
    elif isinstance(name, str) and name in BUILTINS:
        shell.finish(BUILTINS[name](shell, words))
    else:
        shell.finish(run_program(shell, words))


def call(shell: Shell, function: FunctionDefinition, arguments: list[Text]) -> None:
    """Run a function with its own positional parameters and local variables."""
    state = shell.state
    shell.depth = nested(shell.depth, shell.line)
    positional = state.positional
    state.positional = tuple(arguments) if not _splits(arguments) else _first_splitting(arguments)
    state.scopes.append({})
    try:
        shell.framed("function", lambda _: shell.programs.node(shell, function.body))
    except Leave as leave:
        if leave.kind != "function":
            raise
        shell.state.status = leave.status
    finally:
        shell.depth -= 1
        shell.state.scopes.pop()
        shell.state.positional = positional
    shell.finish(shell.state.status)


def _splits(arguments: list[Text]) -> bool:
    return any(isinstance(argument, Unknown) and argument.splits for argument in arguments)


def _first_splitting(arguments: list[Text]) -> Unknown:
    return next(argument for argument in arguments if isinstance(argument, Unknown) and argument.splits)
