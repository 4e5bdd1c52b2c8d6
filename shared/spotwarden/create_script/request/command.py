"""What the shell stage hands to the gcloud stage: simple commands with their words expanded."""

from collections.abc import Mapping

import msgspec


class Unknown(msgspec.Struct, frozen=True, kw_only=True):
    """A word whose value depends on something outside the script and its files.

    `prefix` is how the word certainly begins (`--zone=` of `--zone=$(…)`). `splits` says that bash
    may make any number of words of it, none among them, since it stands outside quotes.
    """

    reason: str
    line: int
    prefix: str = ""
    splits: bool = False


class ExpandedWord(msgspec.Struct, frozen=True, kw_only=True):
    """One argument after every expansion, and the line it began on (from 1)."""

    value: str | Unknown
    line: int


class SimpleCommand(msgspec.Struct, frozen=True, kw_only=True):
    """One simple command that bash would run, in the order it would run them.

    The first word is the program itself: `sudo`, `env`, `nohup` and the like in front of it are
    gone. `environment` holds the exported variables as they stand at this command (CLOUDSDK_…
    among them), `files` what a relative path would open: the files stored beside the script, seen
    from the folder the script has changed into. Looking up a path whose content the script itself
    or a program has written raises `Refused`; a path that is not there raises `KeyError`.
    """

    words: tuple[ExpandedWord, ...]
    line: int
    environment: Mapping[str, str]
    files: Mapping[str, bytes]
