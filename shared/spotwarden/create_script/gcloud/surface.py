"""What each version of gcloud takes: flags, words to choose from, keys, by command and track.

Read from `surface_table.py`, which infra/gcloud/write_surface.py writes out of gcloud's own parser.
"""

import json
from collections.abc import Mapping
from functools import cache

import msgspec

from spotwarden.create_script.gcloud.letters import LETTERS
from spotwarden.create_script.gcloud.surface_table import TABLE

_COLUMNS = {"v1": 0, "beta": 1, "alpha": 2}


class Taker(msgspec.Struct, frozen=True, kw_only=True):
    """Who takes a flag, a word or a key: one create command in one track of one version of gcloud."""

    command: str
    track: str
    version: int


class Presence(msgspec.Struct, frozen=True):
    """Where something is: from each version on, the commands of v1, beta and alpha by their letters."""

    since: Mapping[int, tuple[str, ...]]

    def has(self, taker: Taker) -> bool:
        """Say whether it is there for this taker."""
        known = [version for version in self.since if version <= taker.version]
        column = _COLUMNS[taker.track]
        return bool(known) and LETTERS[taker.command] in self.since[max(known)][column]


class SurfaceFlag(msgspec.Struct, frozen=True, kw_only=True):
    """What the table says of one flag."""

    where: Presence
    negatable: bool
    default: str | bool | None
    choices: Mapping[str, Presence]
    keys: Mapping[str, Presence]


class Surface(msgspec.Struct, frozen=True, kw_only=True):
    """The table; `fields` are those of the API that came after the oldest version, None if after all."""

    versions: tuple[int, ...]
    flags: Mapping[str, SurfaceFlag]
    commands: Mapping[tuple[str, ...], frozenset[str]]
    fields: Mapping[str, int | None]


@cache
def surface() -> Surface:
    """Read the table, once."""
    rows: dict[str, list[list[str]]] = {
        kind: [] for kind in ("versions", "flag", "choice", "key", "command", "field")
    }
    for line in TABLE.splitlines():
        kind, *words = line.split()
        rows[kind].append(words)
    commands: dict[tuple[str, ...], set[str]] = {}
    for level, name in rows["command"]:
        commands.setdefault(() if level == "-" else tuple(level.split("/")), set()).add(name)
    return Surface(
        versions=tuple(int(word) for word in rows["versions"][0]),
        flags=_flags(rows),
        commands={level: frozenset(names) for level, names in commands.items()},
        fields={path: int(version[0]) if version else None for path, *version in rows["field"]},
    )


def _flags(rows: Mapping[str, list[list[str]]]) -> dict[str, SurfaceFlag]:
    parts: dict[str, dict[str, dict[str, Presence]]] = {"choice": {}, "key": {}}
    for kind, found in parts.items():
        for name, word, *where in rows[kind]:
            found.setdefault(name, {})[word] = _presence(where)
    return {
        name: SurfaceFlag(
            where=_presence([word for word in words if word[0].isdigit()]),
            negatable="negatable" in words,
            default=_default(words[-1]),
            choices=parts["choice"].get(name, {}),
            keys=parts["key"].get(name, {}),
        )
        for name, *words in rows["flag"]
    }


def _presence(words: list[str]) -> Presence:
    pairs = (word.split(":") for word in words)
    return Presence({int(version): tuple(columns.split(",")) for version, columns in pairs})


def _default(word: str) -> str | bool | None:
    value = json.loads(word[8:]) if word.startswith("default=") else None
    if not isinstance(value, str | bool | None):
        raise TypeError(f"a default of the table is neither a word nor a switch: {word}")
    return value
