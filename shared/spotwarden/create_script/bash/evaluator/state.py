"""What a shell remembers: variables, functions, options, where it is."""

from collections.abc import Mapping

from spotwarden.create_script.bash.evaluator.folder import Place
from spotwarden.create_script.bash.evaluator.values import Status, Text, Variable, join_variables
from spotwarden.create_script.bash.limits import Budget
from spotwarden.create_script.bash.tree import FunctionDefinition
from spotwarden.create_script.request.command import Unknown


class Stream:
    """Input that is read piece by piece."""

    def __init__(self, text: Text, position: int = 0) -> None:
        self.text = text
        self.position = position


class ShellState:
    """The memory of one shell. `fork` gives a subshell its own."""

    def __init__(self, variables: Mapping[str, Variable]) -> None:
        self.scopes: list[dict[str, Variable]] = [dict(variables)]
        self.functions: dict[str, FunctionDefinition | Unknown] = {}
        self.options: frozenset[str] = frozenset(["braceexpand", "hashall"])
        self.positional: tuple[Text, ...] | Unknown = ()
        self.status: Status = 0
        self.place: Place = ()
        self.places: tuple[Place, ...] = ()
        self.came_from: Place = Unknown(reason="`cd -` goes where the script was called from", line=0)
        self.streams: dict[int, Stream] = {}
        self.traps: dict[str, Text] = {}

    def fork(self) -> "ShellState":
        """Return a copy that can change without this one."""
        copy = ShellState({})
        copy.scopes = [dict(scope) for scope in self.scopes]
        copy.functions = dict(self.functions)
        copy.options = self.options
        copy.positional = self.positional
        copy.status = self.status
        copy.place, copy.places, copy.came_from = self.place, self.places, self.came_from
        copy.streams = {
            number: Stream(stream.text, stream.position) for number, stream in self.streams.items()
        }
        copy.traps = dict(self.traps)
        return copy

    @property
    def size(self) -> int:
        """How many variables, functions and streams a copy takes along."""
        rest = len(self.functions) + len(self.streams) + len(self.traps)
        return 1 + sum(map(len, self.scopes)) + rest

    def find(self, name: str) -> Variable | None:
        """Return a variable as the innermost function sees it."""
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        return None

    def put(self, name: str, variable: Variable) -> None:
        """Set a variable where it lives, or as a global one."""
        scopes = (scope for scope in reversed(self.scopes) if name in scope)
        next(scopes, self.scopes[0])[name] = variable

    def drop(self, name: str) -> None:
        """Unset a variable."""
        for scope in reversed(self.scopes):
            if scope.pop(name, None) is not None:
                return

    def variables(self) -> dict[str, Variable]:
        """Return all variables as the innermost function sees them."""
        seen: dict[str, Variable] = {}
        for scope in self.scopes:
            seen.update(scope)
        return seen


def join_states(state: ShellState, other: ShellState, doubt: Unknown, budget: Budget) -> bool:
    """Make `one` hold only what is so in both; return whether anything in it changed."""
    budget.items(state.size + other.size)
    changed = False
    for scope, theirs in zip(state.scopes, other.scopes, strict=False):
        for name in scope.keys() | theirs.keys():
            mine = scope.get(name)
            if mine is theirs.get(name) or _unknown(mine):
                continue
            budget.items(_length(mine))  # two arrays are compared element by element
            if mine != theirs.get(name):
                scope[name] = join_variables(mine, theirs.get(name), doubt)
                changed = True
    for name, function in other.functions.items():
        if state.functions.get(name) is not function and not isinstance(state.functions.get(name), Unknown):
            state.functions[name] = doubt
            changed = True
    return _join_rest(state, other, doubt) or changed


def _length(variable: Variable | None) -> int:
    return len(variable.value) if variable is not None and isinstance(variable.value, Mapping) else 1


def _unknown(variable: Variable | None) -> bool:
    return variable is not None and isinstance(variable.value, Unknown)


def _join_rest(state: ShellState, other: ShellState, doubt: Unknown) -> bool:
    changed = False
    for field in ("place", "came_from", "positional"):
        mine = getattr(state, field)
        if mine != getattr(other, field) and not isinstance(mine, Unknown):
            setattr(state, field, doubt)
            changed = True
    for number, stream in state.streams.items():
        theirs = other.streams.get(number)
        if theirs is None or (theirs.text, theirs.position) != (stream.text, stream.position):
            changed = changed or not isinstance(stream.text, Unknown)
            stream.text, stream.position = doubt, 0
    state.options |= other.options
    state.traps |= other.traps
    return changed
