"""What a developer has configured: two files, which fill in what the environment does not say.

Precedence, the strongest first: an option of `spotwarden` itself, the environment, the project's own file
(`.spotwarden.toml` in this folder, or above it in the same repository), the user's file.
"""

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from pathlib import Path
from typing import NamedTuple

import click

PROJECT_FILE = ".spotwarden.toml"
MOST_WORKERS = 64
_OF_PROJECTS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-.:")
"""What a project's ID is made of; older ones have the domain in front, as example.com:ml."""


class KnownSetting(NamedTuple):
    """A value that can be configured: the variable that it stands for, what it is, what is wrong with it."""

    variable: str
    what: str
    wrong: Callable[[str], str] = lambda _value: ""
    is_path: bool = False


class ConfiguredSetting(NamedTuple):
    """A value as it holds, and where it comes from; "" for one that is not set."""

    name: str
    value: str
    source: str


class ConfigError(click.ClickException):
    """A file says something that cannot be followed; names the file and the line."""


def _bucket(value: str) -> str:
    if "/" in value or not value:
        return "write its name alone, without gs:// and without a folder"
    return "" if value[0].isalnum() and value[-1].isalnum() else "it begins and ends with a letter or digit"


def _project(value: str) -> str:
    fine = value and _OF_PROJECTS.issuperset(value)
    return "" if fine else "write its ID, such as my-project-123, not its name"


def _topic(value: str) -> str:
    return "write its name alone, without projects/ and topics/" if "/" in value else ""


def _mode(value: str) -> str:
    return "" if value in {"observe", "enforce"} else "it must be observe or enforce"


def _workers(value: str) -> str:
    fine = value.isascii() and value.isdecimal() and 1 <= int(value) <= MOST_WORKERS
    return "" if fine else f"it must be a number from 1 to {MOST_WORKERS}"


def _prefix(value: str) -> str:
    from spotwarden.layout import Layout, NotInLayoutError  # noqa: PLC0415 — every command starts with this file

    try:
        Layout(prefix=value)
    except NotInLayoutError as error:
        return f"{error.reason}, such as users/"
    return ""


KNOWN: Mapping[str, KnownSetting] = {
    "project": KnownSetting("SPOTWARDEN_PROJECT", "the Google Cloud project", _project),
    "bucket": KnownSetting("SPOTWARDEN_BUCKET", "the bucket of the jobs", _bucket),
    "prefix": KnownSetting("SPOTWARDEN_PREFIX", "the folder of the jobs in the bucket", _prefix),
    "notices": KnownSetting("SPOTWARDEN_NOTICES", "the Pub/Sub topic of notices, its short name", _topic),
    "owner": KnownSetting("SPOTWARDEN_OWNER", "your email address, as the owner of jobs"),
    "policy": KnownSetting("SPOTWARDEN_POLICY", "the policy file of the deployment", is_path=True),
    "prices": KnownSetting("SPOTWARDEN_PRICES", "the price table", is_path=True),
    "ops": KnownSetting("SPOTWARDEN_OPS", "who gets messages that no developer can act on"),
    "mode": KnownSetting("SPOTWARDEN_MODE", "observe or enforce; overrides the policy's mode", _mode),
    "workers": KnownSetting("SPOTWARDEN_WORKERS", "how many objects to work on in parallel", _workers),
}
"""By the name that a file uses."""


def user_file(environ: Mapping[str, str]) -> Path:
    """The user's own file (freedesktop.org: "XDG Base Directory Specification")."""
    home = environ.get("XDG_CONFIG_HOME", "")
    base = (
        Path(home)
        if home and Path(home).is_absolute()
        else Path(environ.get("HOME") or "~").expanduser() / ".config"
    )
    return base / "spotwarden/config.toml"


def project_file(folder: Path) -> Path | None:
    """The file of the project that this folder is in, no further up than its repository; None for none.

    Outside of any repository only this folder's own counts: those above it may be anybody's, such as /tmp.
    """
    above = (folder, *folder.parents)
    root = next((at for at, path in enumerate(above) if (path / ".git").exists()), 0)
    return next((item / PROJECT_FILE for item in above[: root + 1] if (item / PROJECT_FILE).is_file()), None)


def files(environ: Mapping[str, str]) -> list[Path]:
    """The files that count, the strongest first."""
    with contextlib.suppress(OSError):
        own = project_file(Path.cwd())
        return [*([own] if own else []), user_file(environ)]
    return [user_file(environ)]


def read_file(file: Path) -> dict[str, str]:
    """What a file says; nothing where there is none. `ConfigError` names the line."""
    import tomllib  # noqa: PLC0415 — most people have no file

    try:
        text = file.read_text()
        said = tomllib.loads(text)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ConfigError(f"{file}: it cannot be read: {error}") from error
    return {name: _value(file, text, name, value) for name, value in said.items()}


def _value(file: Path, text: str, name: str, value: object) -> str:
    from spotwarden.cli.toml_lines import line_number  # noqa: PLC0415 — as above

    where = f"{file}:{line_number(text, name)}"
    if name not in KNOWN:
        raise ConfigError(f"{where}: there is no setting {name!r}; known are {', '.join(KNOWN)}")
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise ConfigError(f"{where}: {name} must be a text in quotes: {KNOWN[name].what}")
    if wrong := problem(name, str(value)):
        raise ConfigError(f"{where}: {wrong}")
    return str(file.parent / str(value)) if KNOWN[name].is_path else str(value)


def problem(name: str, value: str) -> str:
    """Why this cannot be the value of a setting; "" where it can."""
    if "\n" in value or "\x00" in value:
        return f"{name} must be one line"
    wrong = KNOWN[name].wrong(value)
    return f"{name} is {value!r}; {wrong}" if wrong else ""


def settings(environ: Mapping[str, str]) -> list[ConfiguredSetting]:
    """Every setting as it holds now."""
    read = [(file, read_file(file)) for file in files(environ)]
    return [_held(name, environ, read) for name in KNOWN]


def _held(
    name: str, environ: Mapping[str, str], read: list[tuple[Path, dict[str, str]]]
) -> ConfiguredSetting:
    variable = KNOWN[name].variable
    if variable in environ:
        return ConfiguredSetting(name, environ[variable], variable)
    found = next(((said[name], str(file)) for file, said in read if name in said), ("", ""))
    return ConfiguredSetting(name, *found)


@contextlib.contextmanager
def configured(environ: MutableMapping[str, str] = os.environ, **options: str | None) -> Iterator[None]:
    """What the files and these options say, as if the environment said it, for the time of one command."""
    given = {KNOWN[name].variable: value for name, value in options.items() if value is not None}
    for name, value in options.items():
        if value is not None and (wrong := problem(name, value)):
            raise click.BadParameter(wrong, param_hint=f"--{name}")
    bucket = KNOWN["bucket"].variable
    if bucket not in given and (named := environ.get(bucket)) and (wrong := problem("bucket", named)):
        # Mode and workers are checked by whoever reads the environment; at a name Google's client raises.
        raise ConfigError(f"{bucket}: {wrong}")
    filled = {
        KNOWN[setting.name].variable: setting.value
        for setting in settings(environ)
        if setting.source not in {"", KNOWN[setting.name].variable}
    }
    changes = {**filled, **given}
    before = {name: environ.get(name) for name in changes}
    environ.update(changes)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                environ.pop(name, None)
            else:
                environ[name] = value
