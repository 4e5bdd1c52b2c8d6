"""The flags that stand on one command line: the global ones, and those of the command in its track."""

from functools import cache

from spotwarden.create_script.gcloud.argv import Flag
from spotwarden.create_script.gcloud.flags import FLAGS
from spotwarden.create_script.gcloud.keys import NETWORK_INTERFACE
from spotwarden.create_script.gcloud.lists import pairs, texts
from spotwarden.create_script.gcloud.missing import dated
from spotwarden.create_script.gcloud.rows import FlagRow, listed, word_of
from spotwarden.create_script.gcloud.surface import SurfaceFlag, Taker, surface
from spotwarden.create_script.gcloud.values import Reader, choice, mapped, text

GLOBAL_FLAGS: tuple[Flag, ...] = (
    Flag(name="access-token-file", read=text),
    Flag(name="account", read=text),
    Flag(name="authority-selector", read=text),
    Flag(name="authorization-token-file", read=text),
    Flag(name="billing-project", read=text),
    Flag(name="configuration", read=text),
    Flag(name="credential-file-override", read=text),
    Flag(name="flatten", read=texts()),
    Flag(name="format", read=text),
    Flag(name="http-timeout", read=text),
    Flag(name="impersonate-service-account", read=text),
    Flag(name="log-http", negatable=True),
    Flag(name="project", read=text),
    Flag(name="quiet"),
    Flag(name="trace-token", read=text),
    Flag(name="universe-domain", read=text),
    Flag(name="user-output-enabled", negatable=True),
    Flag(name="verbosity", read=word_of("critical", "debug", "error", "info", "none", "warning")),
)


@cache
def global_flags() -> dict[str, Flag]:
    """Give the flags that may stand anywhere behind `gcloud`."""
    return {flag.name: flag for flag in GLOBAL_FLAGS}


@cache
def flags_of(taker: Taker) -> dict[str, Flag]:
    """Give all flags of one create command in one track of one version of gcloud."""
    known = surface().flags
    own = {row.name: _flag(row, known[row.name], taker) for row in FLAGS if known[row.name].where.has(taker)}
    return global_flags() | own


def _flag(row: FlagRow, known: SurfaceFlag, taker: Taker) -> Flag:
    return Flag(
        name=row.name,
        read=_reader(row, known, taker),
        joins=row.joins,
        default=row.default,
        negatable=known.negatable,
        same_as=row.same_as,
    )


def _reader(row: FlagRow, known: SurfaceFlag, taker: Taker) -> Reader | None:
    if row.fold is not None:
        words = [word for word, where in known.choices.items() if where.has(taker)]
        if row.means is not None:
            return mapped({word: row.means[word] for word in words}, fold=row.fold)
        return dated(choice(words, fold=row.fold), known, taker)
    if row.keys is not None:
        keys = {key: row.keys[key] for key, where in known.keys.items() if where.has(taker)}
        return dated(listed(pairs(keys=keys, bare=row.keys is NETWORK_INTERFACE)), known, taker)
    return row.read
