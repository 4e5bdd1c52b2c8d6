"""`cd`, `pushd`, `popd`: where in the folder of the script the shell is."""

from spotwarden.create_script.bash.evaluator.folder import Place
from spotwarden.create_script.bash.evaluator.machine import Shell
from spotwarden.create_script.bash.evaluator.memory import get
from spotwarden.create_script.bash.evaluator.own_folder import OwnFolder
from spotwarden.create_script.bash.evaluator.values import Outcome, Status, Text
from spotwarden.create_script.request.command import ExpandedWord, Unknown


def _destination(shell: Shell, path: Text | None) -> Place:
    if path is None:
        return Unknown(
            reason="`cd` alone goes to the home folder of whoever runs the script", line=shell.line
        )
    if isinstance(path, OwnFolder) and shell.state.place == ():
        return ()
    if isinstance(path, Unknown):
        return Unknown(reason=f"`cd` goes to an unknown folder: {path.reason}", line=shell.line)
    place = shell.path(path)
    if isinstance(place, Unknown) or shell.folder.is_folder(place):
        return place
    return Unknown(reason=f"the folder {path} is not stored beside the script", line=shell.line)


def _go(shell: Shell, place: Place) -> Status:
    shell.state.came_from, shell.state.place = shell.state.place, place
    if isinstance(place, Unknown):
        return Outcome(reason=place.reason, line=place.line)
    return 0


def _operand(words: list[ExpandedWord]) -> Text | None:
    operands = [word.value for word in words[1:] if word.value not in ("-P", "-L", "-e", "-@", "--", "-n")]
    return operands[0] if operands else None


def change(shell: Shell, words: list[ExpandedWord]) -> Status:
    """Run `cd`."""
    path = _operand(words)
    before = shell.state.place
    if path == "-":
        place = shell.state.came_from
    elif path == "" or (isinstance(path, str) and not path.startswith((".", "/")) and get(shell, "CDPATH")):
        place = Unknown(reason="where `cd` goes depends on CDPATH", line=shell.line) if path else before
    else:
        place = _destination(shell, path)
    return _go(shell, place)


def push(shell: Shell, words: list[ExpandedWord]) -> Status:
    """Run `pushd`."""
    path = _operand(words)
    state = shell.state
    shell.budget.items(len(state.places))
    if path is None or (isinstance(path, str) and path[:1] in ("+", "-")):
        if path is not None or not state.places:
            return _go(shell, Unknown(reason="`pushd` is not supported", line=shell.line))
        there, rest = state.places[0], state.places[1:]
        state.places = (state.place, *rest)
        return _go(shell, there)
    state.places = (state.place, *state.places)
    return _go(shell, _destination(shell, path))


def pop(shell: Shell, words: list[ExpandedWord]) -> Status:
    """Run `popd`."""
    state = shell.state
    shell.budget.items(len(state.places))
    if _operand(words) is not None:
        return _go(shell, Unknown(reason="`popd` is not supported", line=shell.line))
    if not state.places:
        return 1
    there, state.places = state.places[0], state.places[1:]
    return _go(shell, there)
