"""Programs: gcloud is handed on, shells are followed, of all others only their traces count."""

import re
from collections.abc import Callable

from spotwarden.create_script.bash.evaluator import wrappers
from spotwarden.create_script.bash.evaluator.gcloud_words import configures, creates, mentions_create
from spotwarden.create_script.bash.evaluator.machine import Shell
from spotwarden.create_script.bash.evaluator.memory import exported
from spotwarden.create_script.bash.evaluator.redirects import read_file
from spotwarden.create_script.bash.evaluator.traces import TRACES, touch_named
from spotwarden.create_script.bash.evaluator.values import Outcome, Status, Text, Variable
from spotwarden.create_script.bash.limits import nested
from spotwarden.create_script.refusal import ScriptRefused
from spotwarden.create_script.request.command import ExpandedWord, Unknown

_SHELLS = frozenset(["bash", "sh", "dash"])
_SHELL_OPTION = re.compile(r"[-+][a-zA-Z]+")
_SHEBANG = re.compile(r"#!\s*(?:/usr/bin/env\s+(?:-S\s+)?)?(?:\S*/)?(?:bash|sh|dash)\b")
# No program has a name like that: it is a piece of a command that was cut off, or a prompt.
_NO_PROGRAM = re.compile(r"[-$#%&*=<>{}\[\]()!?:;,\\|'\"`]|\s|\Z")
_NOT_FOUND = 127
_INERT_NAMES = """
awk cat chmod chown cut diff echo expr git grep gsutil head jq logger ls mail md5sum notify-send
open printf rm scp sed sha256sum sleep sort ssh tail tee touch tr wc
"""
# These never run their arguments as a command on this machine.
_INERT = frozenset(_INERT_NAMES.split())


def run_program(shell: Shell, words: list[ExpandedWord]) -> Status:
    """Run what is neither a function nor a builtin.

    Raises:
        Refused: it is not known what would run, or it launches instances in a way that is not supported.
    """
    call = wrappers.unwrap(shell, words, exported(shell))
    if not call.words:
        return Outcome(reason="whether a program succeeds depends on the machine", line=shell.line)
    name = call.words[0].value
    if isinstance(name, Unknown):
        return _unknown_program(shell, call.words, name)
    if name.rsplit("/", 1)[-1] == "gcloud":
        return _gcloud(shell, call)
    return _program(shell, call.words, name)


def _program(shell: Shell, words: list[ExpandedWord], name: str) -> Status:
    base = name.rsplit("/", 1)[-1]
    if base in _SHELLS:
        return _shell(shell, words)
    if "/" in name:
        return _file(shell, words, name)
    if _NO_PROGRAM.match(name):
        shell.note(f"`{name}` is taken for a command, and there is none of that name", shell.line)
        return _NOT_FOUND
    return _other(shell, words, base)


def _unknown_program(shell: Shell, words: list[ExpandedWord], name: Unknown) -> Status:
    if name.splits or mentions_create("gcloud compute " + _text(shell, words)):
        raise ScriptRefused(f"the command itself is unknown: {name.reason}", line=name.line)
    return Outcome(reason=name.reason, line=name.line)


def _text(shell: Shell, words: list[ExpandedWord]) -> str:
    shell.budget.text(sum(len(word.value) for word in words if isinstance(word.value, str)))
    return " ".join(word.value for word in words if isinstance(word.value, str))


def _gcloud(shell: Shell, call: wrappers.WrappedCall) -> Status:
    words = [ExpandedWord(value="gcloud", line=call.words[0].line), *call.words[1:]]
    matters = creates(words)
    if matters and call.uncertain and any(name.startswith("CLOUDSDK_") for name in call.environment):
        raise ScriptRefused(
            f"{call.uncertain} may or may not hand CLOUDSDK_… variables on to gcloud", line=shell.line
        )
    doubt = shell.doubt()
    if doubt is not None and configures(words):
        shell.cast_doubt(doubt)
    shell.emit(words, shell.line, matters=matters, environment=call.environment)
    TRACES["gcloud"](shell, words)
    return Outcome(reason="whether a gcloud command succeeds depends on the cloud", line=shell.line)


def _shell(shell: Shell, words: list[ExpandedWord]) -> Status:
    """Follow `bash -c text`, `bash file` and `bash` with commands on its input."""
    rest = words[1:]
    inline = False
    while rest and isinstance(rest[0].value, str) and _SHELL_OPTION.fullmatch(rest[0].value):
        shell.budget.text(len(rest))
        option = rest[0].value
        inline = inline or "c" in option
        if "o" in option or "n" in option:
            raise ScriptRefused("a shell that is started with -o or -n is not supported", line=shell.line)
        rest = rest[1:]
    if inline:
        text: Text = rest[0].value if rest else ""
        return _child(shell, text, [word.value for word in rest[2:]])
    if rest:
        return _script_file(shell, rest)
    stream = shell.state.streams.get(0)
    if stream is None:
        return 0
    text = stream.text if isinstance(stream.text, Unknown) else stream.text[stream.position :]
    return _child(shell, text, [])


def _script_file(shell: Shell, words: list[ExpandedWord]) -> Status:
    name = words[0].value
    text, there = read_file(shell, name)
    if not there:
        return _NOT_FOUND
    try:
        return _child(shell, text, [word.value for word in words[1:]])
    except ScriptRefused as error:
        raise ScriptRefused(error.reason, line=error.line, file=error.file or str(name)) from error


def _child(shell: Shell, text: Text, arguments: list[Text]) -> Status:
    """Run another script with the exported variables alone."""
    if isinstance(text, Unknown):
        raise ScriptRefused(f"a shell runs an unknown value: {text.reason}", line=shell.line)

    def body() -> None:
        variables: dict[str, Variable] = {
            name: Variable(value=value, exported=True) for name, value in exported(shell).items()
        }
        state = shell.state
        state.scopes = [INITIAL_VARIABLES | variables]
        state.functions, state.traps = {}, {}
        state.options = frozenset(["braceexpand", "hashall"])
        state.positional = tuple(arguments)
        shell.lenient = 0
        shell.programs.text(shell, text, 1)

    shell.depth = nested(shell.depth, shell.line)
    try:
        return shell.child(body)
    finally:
        shell.depth -= 1


# What bash itself sets when it starts, as far as it is the same everywhere.
INITIAL_VARIABLES = {
    "IFS": Variable(value=" \t\n"),
    "OPTIND": Variable(value="1"),
    "OPTERR": Variable(value="1"),
}


def _file(shell: Shell, words: list[ExpandedWord], name: str) -> Status:
    """Follow a script beside this one; a program elsewhere leaves no traces that matter."""
    path = shell.path(name)
    if isinstance(path, Unknown):
        return _other(shell, words, name.rsplit("/", 1)[-1])
    text, there = read_file(shell, name)
    if not there:
        return _NOT_FOUND
    if isinstance(text, Unknown):
        raise ScriptRefused(f"{name} is run, but its content is unknown: {text.reason}", line=shell.line)
    if path not in shell.folder.executable:
        if mentions_create(text):
            reason = f"whether {name} is executable is not stored: run it by `bash {name}`"
            raise ScriptRefused(reason, line=shell.line)
        return Outcome(reason=f"whether {name} is executable depends on the machine", line=shell.line)
    if _SHEBANG.match(text) or not text.startswith("#!"):
        return _script_file(shell, words)
    return _other(shell, words, name)


def _other(shell: Shell, words: list[ExpandedWord], base: str) -> Status:
    if base not in _INERT:
        _require_no_create(shell, words)
    trace: Callable[[Shell, list[ExpandedWord]], Status | None] = TRACES.get(base, touch_named)
    status = trace(shell, words)
    if status is not None:
        return status
    return Outcome(reason=f"whether `{base}` succeeds depends on the machine", line=shell.line)


def _require_no_create(shell: Shell, words: list[ExpandedWord]) -> None:
    if mentions_create(_text(shell, words)):
        raise ScriptRefused(
            f"`{words[0].value}` runs a create in a way that is not supported", line=shell.line
        )
    for word in words:
        path = word.value if isinstance(word.value, Unknown) else shell.path(word.value)
        content = None if isinstance(path, Unknown) else shell.folder.content(path)
        shell.budget.text(len(content) if isinstance(content, bytes) else 0)
        if isinstance(content, bytes) and mentions_create(content.decode("utf-8", "replace")):
            raise ScriptRefused(
                f"`{words[0].value}` is given {word.value}, which mentions a create", line=shell.line
            )
