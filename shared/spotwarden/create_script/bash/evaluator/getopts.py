"""`getopts`: options of the script or of a function, one at a time."""

from typing import NamedTuple

from spotwarden.create_script.bash.evaluator.machine import Shell
from spotwarden.create_script.bash.evaluator.memory import assign, calculate, get
from spotwarden.create_script.bash.evaluator.values import Status
from spotwarden.create_script.request.command import ExpandedWord, Unknown

_USAGE = 2


class _Call(NamedTuple):
    """The letters that are known, the variable for the one that is found, and the words to look at."""

    letters: str
    name: str
    arguments: tuple[str, ...]

    @property
    def quiet(self) -> bool:
        return self.letters.startswith(":")

    def takes_value(self, letter: str) -> bool | None:
        """Whether an option takes a value; None for one that is not known."""
        place = self.letters.find(letter) if letter != ":" else -1
        return None if place < 0 else self.letters[place + 1 : place + 2] == ":"


def getopts(shell: Shell, words: list[ExpandedWord]) -> Status:
    """Run `getopts`: 0 as long as there is one more option."""
    values = [word.value for word in words[1:]]
    given = values[2:] or shell.state.positional
    if isinstance(given, Unknown):
        return given
    shell.budget.items(len(given))
    known = [value for value in (*values[:2], *given) if isinstance(value, str)]
    if len(known) < len(values[:2]) + len(given):
        return next(value for value in (*values[:2], *given) if isinstance(value, Unknown))
    if len(values) < _USAGE:
        return _USAGE
    return _next_option(shell, _Call(known[0], known[1], tuple(known[2:])))


def _next_option(shell: Shell, call: _Call) -> Status:
    index = calculate(shell, get(shell, "OPTIND") or "1")
    if isinstance(index, Unknown):
        return index
    # bash keeps the place inside a group such as -ab to itself; a changed OPTIND starts anew.
    place = shell.option_place[1] if shell.option_place[0] == index else 1
    word = call.arguments[index - 1] if 0 < index <= len(call.arguments) else ""
    if place == 1 and (word in ("", "-", "--") or not word.startswith("-")):
        assign(shell, "OPTIND", str(index + (word == "--")))
        assign(shell, call.name, "?")
        return 1
    letter, rest = word[place], word[place + 1 :]
    takes_value = call.takes_value(letter)
    if takes_value:
        _with_value(shell, call, letter, rest, index)
    else:
        _advance(shell, index, place, rest)
        _found(shell, call, letter, known=takes_value is not None)
    return 0


def _advance(shell: Shell, index: int, place: int, rest: str) -> None:
    shell.option_place = (index, place + 1) if rest else (index + 1, 1)
    assign(shell, "OPTIND", str(shell.option_place[0]))


def _found(shell: Shell, call: _Call, letter: str, *, known: bool) -> None:
    if not known and call.quiet:
        assign(shell, "OPTARG", letter)
    else:
        shell.state.drop("OPTARG")
    assign(shell, call.name, letter if known else "?")


def _with_value(shell: Shell, call: _Call, letter: str, rest: str, index: int) -> None:
    follows = not rest and index < len(call.arguments)
    shell.option_place = (index + 2 if follows else index + 1, 1)
    assign(shell, "OPTIND", str(shell.option_place[0]))
    if rest or follows:
        assign(shell, "OPTARG", rest or call.arguments[index])
        assign(shell, call.name, letter)
    elif call.quiet:
        assign(shell, "OPTARG", letter)
        assign(shell, call.name, ":")
    else:
        shell.state.drop("OPTARG")
        assign(shell, call.name, "?")
