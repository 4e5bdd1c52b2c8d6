"""`set`, `shopt`, `unset`, `shift`, and how builtins read their own options."""

from msgspec.structs import replace

from spotwarden.create_script.bash.evaluator.machine import Shell
from spotwarden.create_script.bash.evaluator.memory import calculate, key_of, require_writable, target
from spotwarden.create_script.bash.evaluator.values import Status, Text, elements
from spotwarden.create_script.bash.limits import COPY_COST, PIECE_COST
from spotwarden.create_script.refusal import ScriptRefused
from spotwarden.create_script.request.command import ExpandedWord, Unknown

_LETTERS = {
    "a": "allexport",
    "b": "notify",
    "e": "errexit",
    "f": "noglob",
    "h": "hashall",
    "k": "keyword",
    "m": "monitor",
    "n": "noexec",
    "p": "privileged",
    "t": "onecmd",
    "u": "nounset",
    "v": "verbose",
    "x": "xtrace",
    "B": "braceexpand",
    "C": "noclobber",
    "E": "errtrace",
    "H": "histexpand",
    "P": "physical",
    "T": "functrace",
}
_NAMES = frozenset(
    [
        *_LETTERS.values(),
        "pipefail",
        "ignoreeof",
        "interactive-comments",
        "emacs",
        "vi",
        "history",
        "nolog",
        "posix",
    ]
)
# With these bash reads or runs a script in another way than the one that is computed here.
_STRANGE = frozenset(["keyword", "noexec", "onecmd", "posix", "privileged"])
_PATTERN_OPTIONS = frozenset(["nullglob", "failglob", "extglob"])
_STRANGE_SHOPTS = frozenset(
    [
        "dotglob",
        "expand_aliases",
        "globstar",
        "lastpipe",
        "nocaseglob",
        "nocasematch",
        "compat31",
        "compat32",
        "compat40",
        "compat41",
        "compat42",
        "compat43",
        "compat44",
        "localvar_inherit",
        "localvar_unset",
        "assoc_expand_once",
    ]
)


def parse_options(shell: Shell, words: list[ExpandedWord], letters: str) -> tuple[dict[str, str], list[str]]:
    """Return the options of a builtin with their values, and the words behind them.

    Raises:
        Refused: a word is not known, or an option is none of `letters`.
    """
    values = [_known(word, str(words[0].value)) for word in words[1:]]
    given: dict[str, str] = {}
    while values and values[0].startswith("-") and values[0] != "-":
        shell.budget.text(PIECE_COST * len(values[0]) + len(values))
        word = values.pop(0)[1:]
        if word == "-":
            break
        while word:
            letter, word = word[0], word[1:]
            place = letters.find(letter)
            if place < 0 or letter == ":":
                raise ScriptRefused(f"`{words[0].value}` has no option -{letter}", line=shell.line)
            given[letter] = ""
            if letters[place + 1 : place + 2] == ":":
                given[letter] = word or (values.pop(0) if values else "")
                word = ""
    return given, values


def _known(word: ExpandedWord, name: str) -> str:
    if isinstance(word.value, Unknown):
        raise ScriptRefused(f"`{name}` is given an unknown word: {word.value.reason}", line=word.line)
    return word.value


def set_options(shell: Shell, words: list[ExpandedWord]) -> Status:
    """Run `set`: options, and new positional parameters."""
    values = [word.value for word in words[1:]]
    while values:
        shell.budget.text(len(values))
        value = values[0]
        if not isinstance(value, str) or value[:1] not in ("-", "+") or value in ("-", "--", "+"):
            break
        values.pop(0)
        status = _set_letters(shell, value, values)
        if status:
            return status
    else:
        return 0
    return _set_positional(shell, values)


def _set_positional(shell: Shell, values: list[Text]) -> Status:
    if values[0] in ("--", "-"):
        if values == ["-"]:
            return 0
        values = values[1:]
    splitting = next((value for value in values if isinstance(value, Unknown) and value.splits), None)
    shell.state.positional = tuple(values) if splitting is None else splitting
    return 0


def _set_letters(shell: Shell, value: str, values: list[Text]) -> Status:
    on = value[0] == "-"
    for letter in value[1:]:
        shell.budget.text(PIECE_COST + len(values))
        if letter == "o":
            named = values.pop(0) if values else ""
            name = named if isinstance(named, str) else "?"
        else:
            name = _LETTERS.get(letter, "?")
        if name and name not in _NAMES:
            return 2  # bash reports an option it does not know, and sets none
        _set_option(shell, name, on=on)
    return 0


def _set_option(shell: Shell, name: str, *, on: bool) -> None:
    if on and name in _STRANGE:
        raise ScriptRefused(f"a script that sets {name} is not supported", line=shell.line)
    if not on and name == "braceexpand":
        raise ScriptRefused("a script without brace expansion is not supported", line=shell.line)
    shell.state.options = shell.state.options | {name} if on else shell.state.options - {name}


def shopt(shell: Shell, words: list[ExpandedWord]) -> Status:
    """Run `shopt`."""
    given, names = parse_options(shell, words, "supqo")
    for name in names:
        shell.budget.pieces()
        if "o" in given and given.keys() & {"s", "u"}:
            _set_option(shell, name, on="s" in given)
        elif "s" in given and name in _STRANGE_SHOPTS:
            raise ScriptRefused(f"a script that switches {name} on is not supported", line=shell.line)
        elif name in _PATTERN_OPTIONS and given.keys() & {"s", "u"}:
            options = shell.state.options
            shell.state.options = options | {name} if "s" in given else options - {name}
    if given.keys() & {"s", "u"} or not names:
        return 0
    return Unknown(reason="which options are on depends on the machine", line=shell.line)


def unset(shell: Shell, words: list[ExpandedWord]) -> Status:
    """Run `unset`."""
    given, names = parse_options(shell, words, "fvn")
    for name in names:
        shell.budget.pieces()
        bare, bracket, subscript = name.removesuffix("]").partition("[")
        if "f" in given or (shell.state.find(bare) is None and "v" not in given):
            shell.state.functions.pop(bare, None)
        elif bracket:
            _unset_element(shell, target(shell, bare), subscript)
        else:
            meant = bare if "n" in given else target(shell, bare)
            require_writable(shell, meant, shell.state.find(meant))
            shell.state.drop(meant)
    return 0


def _unset_element(shell: Shell, name: str, subscript: str) -> None:
    variable = shell.state.find(name)
    if variable is None:
        return
    require_writable(shell, name, variable)
    values = elements(variable)
    key = key_of(shell, variable, subscript)
    if subscript in ("@", "*") and not variable.associative:
        shell.state.drop(name)
    elif isinstance(key, Unknown):
        shell.state.put(name, replace(variable, value=key))
    elif not isinstance(values, Unknown):
        shell.budget.text(COPY_COST * len(values))
        left = {known: value for known, value in values.items() if known != key}
        shell.state.put(name, replace(variable, value=left, array=not variable.associative))


def shift(shell: Shell, words: list[ExpandedWord]) -> Status:
    """Run `shift`."""
    count = calculate(shell, words[1].value) if len(words) > 1 else 1
    positional = shell.state.positional
    if isinstance(count, Unknown) or isinstance(positional, Unknown):
        why = count if isinstance(count, Unknown) else positional
        assert isinstance(why, Unknown)
        shell.state.positional = why
        return why
    if count < 0 or count > len(positional):
        return 1
    shell.budget.text(len(positional))
    shell.state.positional = positional[count:]
    return 0
