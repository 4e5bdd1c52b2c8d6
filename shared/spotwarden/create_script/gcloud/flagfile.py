"""--flags-file: a file of flags in YAML or JSON takes the place of the flag itself."""

from collections.abc import Mapping, Sequence
from typing import Any

from spotwarden.create_script.gcloud.argv import ArgToken
from spotwarden.create_script.gcloud.files import parsed_text
from spotwarden.create_script.gcloud.values import Misfit, Raw
from spotwarden.create_script.gcloud.yamls import load_flags
from spotwarden.create_script.refusal import ScriptRefused

_FLAG = "--flags-file"
# A file may name others, each of which may name more.
_MOST_FILES = 50


def expand(tokens: Sequence[ArgToken], files: Mapping[str, bytes]) -> list[ArgToken]:
    """Replace each --flags-file by the flags in it, which keep the line of the command.

    Raises `ScriptRefused` if a file is not with the script, or is no dictionary or list of dictionaries.
    """
    if not any(isinstance(token.value, str) and token.value.startswith(_FLAG) for token in tokens):
        return list(tokens)
    expanded: list[ArgToken] = []
    reader = _Reader(files)
    words = iter(tokens)
    for token in words:
        name, equals, path = token.value.partition("=") if isinstance(token.value, str) else ("", "", "")
        if name != _FLAG:
            expanded.append(token)
            continue
        following = None if equals else next(words, None)
        if equals or following:  # gcloud passes over a flag at the very end
            expanded += reader.flags(following.value if following else path, token.line)
    return expanded


class _Reader:
    """Reads flags files, and those that they name, up to a limit."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._files = files
        self._left = _MOST_FILES

    def flags(self, path: Raw, line: int) -> list[ArgToken]:
        """Give the flags of one file; they keep the line of the command."""
        if not isinstance(path, str):
            raise ScriptRefused(f"{_FLAG}: {path!r} is not the name of a file; write it in quotes", line=line)
        self._left -= 1
        if self._left < 0:
            raise ScriptRefused(f"{_FLAG}: {path!r} is one file too many, or includes itself", line=line)
        try:
            data = load_flags(parsed_text(self._files, path))
        except Misfit as error:
            raise ScriptRefused(f"{_FLAG}: {path!r}: {error}", line=line) from None
        groups = data if isinstance(data, list) else [data]
        if not all(isinstance(group, dict) for group in groups):
            raise ScriptRefused(
                f"{_FLAG}: {path!r} must hold a dictionary of flags, or a list of them", line=line
            )
        return [
            token
            for group in groups
            for name, value in group.items()
            for token in self._flag(name, value, line)
        ]

    def _flag(self, name: Raw, value: Raw, line: int) -> list[ArgToken]:
        if name == _FLAG:
            paths = value if isinstance(value, list) else [value]
            return [token for path in paths for token in self.flags(path, line)]
        return [ArgToken(value=word, line=line) for word in _words(str(name), value)]


def _words(name: str, value: Raw) -> list[Any]:
    """Give the words of one flag; true, false and nothing alike make it a switch, as in gcloud."""
    if value is None or isinstance(value, bool):
        return [name]
    if isinstance(value, list | dict):
        return [name, value]
    return [f"{name}={value}"]
