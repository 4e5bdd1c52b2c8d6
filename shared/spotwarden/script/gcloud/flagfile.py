"""--flags-file: a file of flags in YAML or JSON takes the place of the flag itself."""

from collections.abc import Mapping, Sequence
from typing import Any

from spotwarden.script.gcloud.argv import Token
from spotwarden.script.gcloud.values import Misfit, Raw
from spotwarden.script.gcloud.yamls import load_flags
from spotwarden.script.refusal import Refused

_FLAG = "--flags-file"
_DEPTH = 10


def expand(tokens: Sequence[Token], files: Mapping[str, bytes]) -> list[Token]:
    """Replace each --flags-file by the flags in it, which keep the line of the command.

    Raises `Refused` if a file is not with the script, or is no dictionary or list of dictionaries.
    """
    if not any(isinstance(token.value, str) and token.value.startswith(_FLAG) for token in tokens):
        return list(tokens)
    expanded: list[Token] = []
    words = iter(tokens)
    for token in words:
        name, equals, path = token.value.partition("=") if isinstance(token.value, str) else ("", "", "")
        if name != _FLAG:
            expanded.append(token)
            continue
        following = None if equals else next(words, None)
        if equals or following:  # gcloud passes over a flag at the very end
            expanded += _flags(following.value if following else path, files, token.line, depth=1)
    return expanded


def _flags(path: Raw, files: Mapping[str, bytes], line: int, *, depth: int) -> list[Token]:
    try:
        content = files[path].decode() if isinstance(path, str) else None
    except KeyError:
        raise Refused(f"{_FLAG}: the file {path!r} is not with the script", line=line) from None
    except UnicodeDecodeError:
        raise Refused(f"{_FLAG}: the file {path!r} is not UTF-8 text", line=line) from None
    if not content:
        raise Refused(f"{_FLAG}: needs a file with flags in it", line=line)
    if depth > _DEPTH:
        raise Refused(f"{_FLAG}: {path!r} names files in a circle", line=line)
    try:
        data = load_flags(content)
    except Misfit as error:
        raise Refused(f"{_FLAG}: {path!r} {error}", line=line) from None
    return _tokens(data, path, files, line, depth)


def _tokens(data: Raw, path: str, files: Mapping[str, bytes], line: int, depth: int) -> list[Token]:
    tokens: list[Token] = []
    for group in data if isinstance(data, list) else [data]:
        if not isinstance(group, dict):
            raise Refused(f"{_FLAG}: {path!r} must hold a dictionary of flags, or a list of them", line=line)
        for name, value in group.items():
            if name == _FLAG:
                for inner in value if isinstance(value, list) else [value]:
                    tokens += _flags(inner, files, line, depth=depth + 1)
            else:
                tokens += [Token(value=word, line=line) for word in _words(str(name), value)]
    return tokens


def _words(name: str, value: Raw) -> list[Any]:
    """Give the words of one flag; true, false and nothing alike make it a switch, as in gcloud."""
    if value is None or isinstance(value, bool):
        return [name]
    if isinstance(value, list | dict):
        return [name, value]
    return [f"{name}={value}"]
