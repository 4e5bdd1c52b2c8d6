"""What must be certain of a command that launches instances before it is handed on."""

from collections.abc import Mapping

from spotwarden.create_script.bash.evaluator.values import Text
from spotwarden.create_script.bash.limits import MAX_ARGUMENT_BYTES
from spotwarden.create_script.refusal import ScriptRefused
from spotwarden.create_script.request.command import ExpandedWord, Unknown

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
            raise ScriptRefused(f"{name} is not known: {value.reason}", line=value.line)


def _require_short(text: str, line: int) -> None:
    if len(text) * _MOST_BYTES_A_CHARACTER <= MAX_ARGUMENT_BYTES:
        return
    if len(text.encode("utf-8", "surrogateescape")) > MAX_ARGUMENT_BYTES:
        reason = f"an argument is longer than {MAX_ARGUMENT_BYTES} bytes: Linux runs no such command"
        raise ScriptRefused(reason, line=line)
