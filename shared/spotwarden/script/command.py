"""What the shell stage hands to the gcloud stage: simple commands with their words expanded."""

from collections.abc import Mapping

import msgspec


class Unknown(msgspec.Struct, frozen=True, kw_only=True):
    """A word whose value depends on something outside the script and its files."""

    reason: str
    line: int


class Word(msgspec.Struct, frozen=True, kw_only=True):
    """One argument after every expansion, and the line it began on (from 1)."""

    value: str | Unknown
    line: int


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """One simple command that bash would run, in the order it would run them.

    `environment` holds the exported variables as they stand at this command (CLOUDSDK_… among
    them), `files` what a relative path would open: the files stored beside the script and those
    that the script itself wrote from here-documents before this command.
    """

    words: tuple[Word, ...]
    line: int
    environment: Mapping[str, str]
    files: Mapping[str, bytes]
