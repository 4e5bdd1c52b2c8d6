"""Which gcloud command a line is, and the names by which a misspelt create is told from another command."""

from collections.abc import Sequence
from functools import cache

import msgspec

from spotwarden.create_script.gcloud.argv import ArgToken, nearest
from spotwarden.create_script.gcloud.flagset import global_flags
from spotwarden.create_script.gcloud.letters import BULK, CONTAINER, CREATE, GROUP, POLICY, TEMPLATE
from spotwarden.create_script.gcloud.surface import surface
from spotwarden.create_script.refusal import ScriptRefused
from spotwarden.create_script.request.command import Unknown

_INSTANCES = ("compute", "instances")
_LEAVES = {
    (*_INSTANCES, "create"): CREATE,
    (*_INSTANCES, "bulk", "create"): BULK,
    (*_INSTANCES, "create-with-container"): CONTAINER,
}
_PARTS = {("compute", *command.split()): command for command in (POLICY, TEMPLATE, GROUP)}
"""What makes the parts of a TPU slice; without a group they make no VM."""
PREVIEW = "preview"
"""The track that came between gcloud 528 and 578."""
_TRACKS = ("alpha", "beta", PREVIEW)

# Commands without a file of their name in the SDK, of which the table is made.
_UNFILED = {("compute",): {"xpn"}, _INSTANCES: {"get-partner-metadata"}, (*_INSTANCES, "bulk"): {"create"}}


class CommandLine(msgspec.Struct, frozen=True, kw_only=True):
    """One gcloud command: the words of its name, its track, and what stands before and behind the name.

    `leaf` is one of the three create commands, `part` one of those for the parts of a slice; None for others.
    """

    path: tuple[str, ...]
    leaf: str | None
    part: str | None
    track: str
    before: tuple[ArgToken, ...]
    behind: tuple[ArgToken, ...]
    unknown: Unknown | None = None


def read_line(tokens: Sequence[ArgToken]) -> CommandLine:
    """Find out which command this is; flags may stand between the words of its name.

    `unknown` is a word that may belong to the name and whose value depends on something outside the script.
    """
    names: list[str] = []
    before: list[ArgToken] = []
    position, track = 0, "v1"
    while position < len(tokens):
        word = tokens[position].value
        if isinstance(word, Unknown):
            return _line(names, track, before, tokens[position:], unknown=word)
        if not word.startswith("-") or word == "-":
            if not names and word in _TRACKS and track == "v1":
                track = word
            else:
                names.append(word)
            position += 1
            if tuple(names) in _LEAVES or tuple(names) in _PARTS:
                break
            continue
        taken = 2 if _takes_next(word) else 1
        before += tokens[position : position + taken]
        position += taken
    return _line(names, track, before, tokens[position:])


def _line(
    names: Sequence[str],
    track: str,
    before: Sequence[ArgToken],
    behind: Sequence[ArgToken],
    unknown: Unknown | None = None,
) -> CommandLine:
    path = tuple(names)
    return CommandLine(
        path=path,
        leaf=_LEAVES.get(path),
        part=_PARTS.get(path),
        track=track,
        before=tuple(before),
        behind=tuple(behind),
        unknown=unknown,
    )


def _takes_next(word: str) -> bool:
    """Say whether the value of this flag is the next word."""
    flag = global_flags().get(word.removeprefix("--"))
    return word == "--flags-file" or (word.startswith("--") and flag is not None and flag.read is not None)


def may_create(line: CommandLine) -> bool:
    """Say whether the words known so far may go on to one of the create commands."""
    return any(leaf[: len(line.path)] == line.path for leaf in _LEAVES)


@cache
def _levels() -> dict[tuple[str, ...], frozenset[str]]:
    """Give the commands that stand beside the creates, level by level, of all versions that are read."""
    table = surface().commands
    levels = sorted({*table, *_UNFILED}, key=len)
    return {level: table.get(level, frozenset()) | _UNFILED.get(level, set()) for level in levels}


def check_name(line: CommandLine, number: int) -> None:
    """Raise `ScriptRefused` for a command that gcloud does not have and that may be meant for a create."""
    if line.track != "v1" and line.path[:1] and line.path[0] in _TRACKS:
        raise ScriptRefused(f"gcloud {line.track} has no command {line.path[0]!r}", line=number)
    for prefix, known in _levels().items():
        word = line.path[len(prefix)] if len(line.path) > len(prefix) else None
        if line.path[: len(prefix)] != prefix or word is None or word in known:
            continue
        if prefix[:2] == _INSTANCES or any(name.startswith("creat") for name in line.path):
            near = nearest(word, known)
            hint = f"; did you mean {near.removeprefix('--')}?" if near else ""
            raise ScriptRefused(
                f"gcloud {' '.join(prefix)} has no command {word!r}{hint}".replace("  ", " "), line=number
            )
        return
