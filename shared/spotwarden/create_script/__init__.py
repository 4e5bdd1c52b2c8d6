"""A stored create script → the requests that gcloud would send, as data; pure.

The text is read as bash reads it (`shell`) and its gcloud commands as gcloud reads them (`gcloud`).
Nothing is run, opened, looked up or asked for: a script is a text that may be hostile.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from spotwarden.create_script.refusal import ScriptRefused

if TYPE_CHECKING:
    from spotwarden.create_script.gcloud import Defaults, Note, Request
    from spotwarden.create_script.request.command import SimpleCommand, Unknown

__all__ = ["Defaults", "Note", "Request", "ScriptReading", "ScriptRefused", "read", "requests"]

# Both readers load on first use: most of those who import this package never read a script.
_LAZY = frozenset(["Defaults", "Note", "Request"])


def __getattr__(name: str) -> Any:  # noqa: ANN401 — classes of the gcloud stage, by name
    if name in _LAZY:
        return getattr(import_module("spotwarden.create_script.gcloud"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class ScriptReading(NamedTuple):
    """All that a script says: its commands, what they send, and what is worth telling about the rest.

    `notes` are gcloud commands that belong to no request. `remarks` say where the script fails or stops
    on its own; `ended` why bash stops before the last line, if it does.
    """

    commands: "tuple[SimpleCommand, ...]"
    requests: "tuple[Request, ...]"
    notes: "tuple[Note, ...]"
    remarks: "tuple[Unknown, ...]"
    ended: "Unknown | None"


def read(
    text: bytes,
    *,
    files: Mapping[str, bytes] | None = None,
    defaults: "Defaults | None" = None,
    environment: Mapping[str, str] | None = None,
) -> ScriptReading:
    """Return what the script `text` would do, started with no arguments.

    Args:
        text: the script as stored.
        files: the files stored beside it, by path relative to it; read only as far as the script does.
        defaults: project, zone and region that `gcloud config` holds; none by default.
        environment: variables that the script is started with; none by default.

    Raises:
        Refused: what it would send is not certain, or gcloud would refuse it.
    """
    from spotwarden.create_script.bash.evaluator.script import run_script
    from spotwarden.create_script.gcloud import Defaults, translate  # noqa: PLC0415 — see _LAZY

    run = run_script(text, files=files or {}, environment=environment or {})
    translation = translate(run.commands, defaults or Defaults())
    return ScriptReading(run.commands, translation.requests, translation.notes, run.remarks, run.ended)


def requests(
    text: bytes,
    *,
    files: Mapping[str, bytes] | None = None,
    defaults: "Defaults | None" = None,
    environment: Mapping[str, str] | None = None,
) -> "list[Request]":
    """Return the requests that gcloud would send for the script `text`; see `read`.

    Raises:
        Refused: as `read`, and where bash stops before it reaches any create.
    """
    reading = read(text, files=files, defaults=defaults, environment=environment)
    if not reading.requests and reading.ended is not None:
        raise ScriptRefused(reading.ended.reason, line=reading.ended.line)
    return list(reading.requests)
