"""The flags that stand on one command line: the global ones, and those of the command in its track."""

from functools import cache

from spotwarden.create_script.gcloud.argv import Flag
from spotwarden.create_script.gcloud.flags import FLAGS
from spotwarden.create_script.gcloud.keys import NETWORK_INTERFACE, keys_of
from spotwarden.create_script.gcloud.lists import pairs, texts
from spotwarden.create_script.gcloud.rows import FlagRow, listed, word_of
from spotwarden.create_script.gcloud.values import text

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
def flags_of(command: str, track: str) -> dict[str, Flag]:
    """Give all flags of one create command in one track; the later of two rows counts."""
    own = {row.name: _flag(row, command, track) for row in FLAGS if row.where.has(command, track)}
    return global_flags() | own


def _flag(row: FlagRow, command: str, track: str) -> Flag:
    read = row.read
    if row.keys is not None:
        read = listed(pairs(keys=keys_of(row.keys, command, track), bare=row.keys is NETWORK_INTERFACE))
    return Flag(
        name=row.name,
        read=read,
        joins=row.joins,
        default=row.default,
        negatable=row.negatable,
        same_as=row.same_as,
    )
