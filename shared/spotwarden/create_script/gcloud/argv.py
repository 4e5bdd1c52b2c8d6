"""A gcloud command line → its flags and names, by the rules of gcloud's parser (Python's argparse, 3.12)."""

import difflib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from spotwarden.create_script.gcloud.values import Misfit, Raw, Reader
from spotwarden.create_script.refusal import ScriptRefused

# No flag is nearly as long; comparing takes the square of the length.
_LONGEST_NAME = 80
# Far more than any create needs; each flag that adds up copies what stood before it.
_MOST_WORDS = 2_000
_NEGATIVE_NUMBER = re.compile(r"-\d+$|-\d*\.\d+$")


class Flag(msgspec.Struct, frozen=True, kw_only=True):
    """One flag: how its value is read and what a second one does to the first.

    `read` is None for a switch. `joins` folds an older and a newer value into one; without it the
    newer one wins. `negatable` says that `--no-NAME` exists beside it, `same_as` names the flag that
    this one is another spelling of.
    """

    name: str
    same_as: str | None = None
    read: Reader | None = None
    joins: Callable[[Any, Any], Any] | None = None
    default: Raw = None
    negatable: bool = False


class ArgToken(msgspec.Struct, frozen=True, kw_only=True):
    """One word of the command line; from a flags file it may be a list or a dictionary."""

    value: Raw
    line: int


class Args:
    """The flags of one command: what was given, and gcloud's defaults for the rest."""

    def __init__(self, flags: Mapping[str, Flag], line: int) -> None:
        self.flags = flags
        self.command_line = line
        self.names: list[ArgToken] = []
        self._given: dict[str, ArgToken] = {}

    def put(self, name: str, value: Raw, line: int) -> None:
        """Store the value of a flag that stands on this line."""
        self._given[name] = ArgToken(value=value, line=line)

    def inherit(self, other: "Args") -> None:
        """Take over the flags of an outer command that are not given here."""
        self._given = other._given | self._given  # noqa: SLF001 — of the same class

    def given(self, *names: str) -> bool:
        """Say whether any of these flags stands on the command line, negated ones included."""
        return not self._given.keys().isdisjoint(names)

    def __getitem__(self, name: str) -> Raw:
        """Give the value of a flag, else its default, else None; also for flags this command has not."""
        if name in self._given:
            return self._given[name].value
        flag = self.flags.get(name)
        return flag.default if flag else None

    def refusal(self, name: str, reason: str) -> ScriptRefused:
        """Make the refusal that names this flag and the line on which it stands."""
        given = self._given.get(name)
        return ScriptRefused(f"--{name}: {reason}", line=given.line if given else self.command_line)


def parse(
    tokens: Sequence[ArgToken],
    flags: Mapping[str, Flag],
    *,
    line: int,
    names: bool,
    missing: Callable[[str], str | None] = lambda _: None,
) -> Args:
    """Read the words behind the command; `names` says whether the command takes names.

    `missing` says of a flag that is not among these what else is known of it.

    As in gcloud, all names stand together: flags may come before or behind them, not between.
    """
    if len(tokens) > _MOST_WORDS:
        raise ScriptRefused(f"a create of more than {_MOST_WORDS} words is not supported", line=line)
    args = Args(flags, line)
    _require_known(tokens, flags, missing)
    kinds = _kinds(tokens, flags)
    position, wants_names = 0, names
    while position < len(tokens):
        if kinds[position] == "flag":
            position = _take_flag(tokens, kinds, position, args)
            continue
        end = position
        while end < len(tokens) and kinds[end] != "flag":
            end += 1
        words = _words(tokens[position:end], kinds[position:end])
        if not wants_names or not words:
            raise _unrecognized(tokens[position], flags)
        args.names, wants_names, position = words, False, end
    return args


def _words(tokens: Sequence[ArgToken], kinds: Sequence[str]) -> list[ArgToken]:
    """Give the names of one run of words: its first `--` only ends the flags."""
    words = list(tokens)
    if "--" in kinds:
        del words[list(kinds).index("--")]
    for word in words:
        if not isinstance(word.value, str):
            raise ScriptRefused(
                f"{word.value!r} in a flags file follows a switch, which takes no value", line=word.line
            )
    return words


def _require_known(
    tokens: Sequence[ArgToken], flags: Mapping[str, Flag], missing: Callable[[str], str | None]
) -> None:
    for token in tokens:
        word = token.value
        if word == "--":
            return
        name = word.partition("=")[0] if isinstance(word, str) else ""
        if name.startswith("--") and not _known(name, flags) and (reason := missing(name)):
            raise ScriptRefused(reason, line=token.line)


def _kinds(tokens: Sequence[ArgToken], flags: Mapping[str, Flag]) -> list[str]:
    kinds: list[str] = []
    for token in tokens:
        kinds.append(_kind(token, flags))
        if kinds[-1] == "--":
            break
    return kinds + ["word"] * (len(tokens) - len(kinds))


def _kind(token: ArgToken, flags: Mapping[str, Flag]) -> str:
    word = token.value
    if not isinstance(word, str) or not word.startswith("-") or word == "-":
        return "word"
    if word == "--":
        return "--"
    if _known(word.partition("=")[0], flags):
        return "flag"
    # A word with a blank in it, or one that is a negative number, is a value and no flag.
    if _NEGATIVE_NUMBER.match(word) or " " in word:
        return "word"
    raise _unrecognized(token, flags)


def _known(word: str, flags: Mapping[str, Flag]) -> bool:
    name = word.removeprefix("--")
    return word == "-q" or (word.startswith("--") and (name in flags or _negated(name, flags) is not None))


def _negated(name: str, flags: Mapping[str, Flag]) -> Flag | None:
    flag = flags.get(name.removeprefix("no-")) if name.startswith("no-") else None
    return flag if flag and flag.negatable else None


def _take_flag(tokens: Sequence[ArgToken], kinds: Sequence[str], position: int, args: Args) -> int:
    """Read one flag and its value; give the position behind them."""
    token = tokens[position]
    word, equals, glued = token.value.partition("=")
    name = "quiet" if word == "-q" else word[2:]
    negated = None if name in args.flags else _negated(name, args.flags)
    flag = negated or args.flags[name]
    if flag.read is None:
        if equals:
            raise ScriptRefused(
                f"--{name}: is a switch and takes no value, not even {glued!r}", line=token.line
            )
        args.put(flag.name, negated is None, token.line)
        return position + 1
    if equals:
        _store(args, flag, glued, token.line)
        return position + 1
    if position + 1 >= len(tokens) or kinds[position + 1] != "word":
        raise ScriptRefused(f"--{name}: needs a value", line=token.line)
    _store(args, flag, tokens[position + 1].value, token.line)
    return position + 2


def _store(args: Args, flag: Flag, raw: Raw, line: int) -> None:
    assert flag.read is not None  # noqa: S101 — switches do not come here
    if raw == "--":
        raise ScriptRefused(f"--{flag.name}: the value -- is dropped by gcloud's parser", line=line)
    try:
        value = flag.read(raw)
        if flag.joins and args.given(flag.name):
            value = flag.joins(args[flag.name], value)
    except Misfit as error:
        raise ScriptRefused(f"--{flag.name}: {error}", line=line) from None
    args.put(flag.same_as or flag.name, value, line)


def _unrecognized(token: ArgToken, flags: Mapping[str, Flag]) -> ScriptRefused:
    if not isinstance(token.value, str):
        return ScriptRefused(
            f"{token.value!r} in a flags file follows a switch, which takes no value", line=token.line
        )
    word = token.value.partition("=")[0]
    near = nearest(word, flags) if word.startswith("-") else None
    hint = f"; did you mean {near}?" if near else ""
    what = "unknown flag" if word.startswith("-") else "unexpected word"
    return ScriptRefused(f"{what} {_shortened(token.value)}{hint}", line=token.line)


def nearest(word: str, flags: Iterable[str]) -> str | None:
    """Give the known flag that is written most like this one, if any is near."""
    if len(word) > _LONGEST_NAME:
        return None
    known = {f"--{name}" for name in flags}
    return next(iter(difflib.get_close_matches(word.replace("_", "-").lower(), known, 1)), None)


def _shortened(word: str) -> str:
    return repr(word if len(word) <= 60 else word[:57] + "...")  # noqa: PLR2004 — what a line of a message holds
