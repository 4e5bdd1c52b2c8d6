"""`if` and `case`: of several branches one is taken, if it is known which."""

from functools import partial

from spotwarden.create_script.bash.evaluator.expand import expand_pattern, expand_text
from spotwarden.create_script.bash.evaluator.fitting import matches
from spotwarden.create_script.bash.evaluator.loops import condition
from spotwarden.create_script.bash.evaluator.machine import Shell
from spotwarden.create_script.bash.evaluator.values import Outcome
from spotwarden.create_script.bash.tree import CaseClause, Clause, If
from spotwarden.create_script.request.command import Unknown


def run_if(shell: Shell, node: If) -> None:
    """Run `if`."""
    _branch(shell, node, 0)


def _branch(shell: Shell, node: If, place: int) -> None:
    shell.budget.pieces()
    if place == len(node.branches):
        shell.state.status = 0
        if node.otherwise is not None:
            shell.programs.block(shell, node.otherwise)
        return
    question, body = node.branches[place]
    status = condition(shell, question)
    if isinstance(status, Unknown):
        success = not isinstance(status, Outcome) or status.success
        taken = shell.attempt(lambda: shell.programs.block(shell, body), status, expected=success)
        other = shell.attempt(lambda: _branch(shell, node, place + 1), status, expected=not success)
        shell.settle([taken, other], status)
        shell.state.status = Outcome(reason=status.reason, line=status.line)
    elif status == 0:
        shell.programs.block(shell, body)
    else:
        _branch(shell, node, place + 1)


def run_case(shell: Shell, node: CaseClause) -> None:
    """Run `case`."""
    word = expand_text(shell, node.word)
    shell.state.status = 0
    _clauses(shell, node, word, 0)


def _clauses(shell: Shell, node: CaseClause, word: str | Unknown, start: int) -> None:
    for place in range(start, len(node.clauses)):
        shell.budget.pieces()
        clause = node.clauses[place]
        fits = _fits(shell, clause, word)
        if isinstance(fits, Unknown):
            taken = shell.attempt(partial(_take, shell, node, word, place), fits)
            other = shell.attempt(partial(_clauses, shell, node, word, place + 1), fits)
            shell.settle([taken, other], fits)
            return
        if fits:
            _take(shell, node, word, place)
            return


def _fits(shell: Shell, clause: Clause, word: str | Unknown) -> bool | Unknown:
    for written in clause.patterns:
        pattern = expand_pattern(shell, written)
        if pattern == "*":
            return True
        if isinstance(pattern, Unknown):
            return pattern
        if isinstance(word, Unknown):
            return word
        if matches(shell, pattern, word):
            return True
    return False


def _take(shell: Shell, node: CaseClause, word: str | Unknown, place: int) -> None:
    clause = node.clauses[place]
    shell.budget.pieces()
    shell.programs.block(shell, clause.body)
    if clause.end == ";&" and place + 1 < len(node.clauses):
        _take(shell, node, word, place + 1)
    elif clause.end == ";;&":
        _clauses(shell, node, word, place + 1)
