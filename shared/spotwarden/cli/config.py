"""`spotwarden config`: what holds, where it comes from, and how to change it."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import click

from spotwarden.cli.configured import (
    KNOWN,
    PROJECT_FILE,
    ConfigError,
    ConfiguredSetting,
    problem,
    project_file,
    settings,
    user_file,
)
from spotwarden.cli.table import plain, render
from spotwarden.cli.toml_lines import UnsafeTomlError, with_value, without

NAME = click.argument("name", type=click.Choice(list(KNOWN)), metavar="NAME")
HERE = click.option("--here", is_flag=True, help=f"Use the project's file, {PROJECT_FILE}.")


@click.group()
def config() -> None:
    """Show and set the bucket, project, owner and more.

    In order of precedence: an option such as `spotwarden --bucket B …`, an environment variable such as
    SPOTWARDEN_BUCKET, .spotwarden.toml of the current project, your settings file. None holds secrets.

    \b
    Examples:
      spotwarden config set bucket my-bucket
      spotwarden config set project my-project --here
      spotwarden config list
    """


@config.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, one list.")
def list_(*, as_json: bool) -> None:
    """List all settings, their values and sources.

    \b
    Examples:
      spotwarden config list
    """
    held = settings(os.environ)
    if as_json:
        click.echo(json.dumps([setting._asdict() for setting in held], indent=2))
        return
    rows = [
        (
            configured_setting.name,
            configured_setting.value,
            configured_setting.source or "not set",
            KNOWN[configured_setting.name].what,
        )
        for configured_setting in held
    ]
    click.echo(render(("NAME", "VALUE", "FROM", "WHAT IT IS"), rows))


@config.command()
@NAME
def get(name: str) -> None:
    """Print one setting; exit status 1 if it isn't set.

    \b
    Examples:
      gcloud storage ls gs://$(spotwarden config get bucket)
    """
    held = next(setting for setting in settings(os.environ) if setting.name == name)
    if not held.source:
        raise click.ClickException(f"{name} is not set: {KNOWN[name].what}")
    click.echo(plain(held.value))


@config.command("set")
@NAME
@click.argument("value")
@HERE
def set_(name: str, value: str, *, here: bool) -> None:
    """Set a value in your settings file, or the project's.

    \b
    Examples:
      spotwarden config set owner ada@example.com
      spotwarden config set policy infra/policy.toml --here
    """
    if wrong := problem(name, value):
        raise click.ClickException(plain(wrong))
    file = _file(here=here)
    if KNOWN[name].is_path:
        # A path in a file is meant from that file's folder, one that is typed from where one stands.
        value = str(Path(value).resolve())
    _change(file, _edited(file, lambda text: with_value(text, name, value)))
    _say(name, file)


@config.command()
@NAME
@HERE
def unset(name: str, *, here: bool) -> None:
    """Remove a value from your settings file, or the project's.

    \b
    Examples:
      spotwarden config unset prefix
    """
    file = _file(here=here)
    text = _text(file)
    changed = _edited(file, lambda said: without(said, name))
    if changed == text:
        click.echo(f"{name} is not set in {file}")
        return
    _change(file, changed)
    _say(name, file)


@config.command()
@HERE
def path(*, here: bool) -> None:
    """Print the path of the file that `config set` writes.

    \b
    Examples:
      $EDITOR $(spotwarden config path)
    """
    click.echo(str(_file(here=here)))


def _file(*, here: bool) -> Path:
    return (project_file(Path.cwd()) or Path.cwd() / PROJECT_FILE) if here else user_file(os.environ)


def _text(file: Path) -> str:
    try:
        return file.read_text()
    except FileNotFoundError:
        return ""
    except (OSError, ValueError) as error:
        raise ConfigError(f"{file}: it cannot be read: {error}") from error


def _edited(file: Path, edit: Callable[[str], str]) -> str:
    try:
        return edit(_text(file))
    except UnsafeTomlError as error:
        raise ConfigError(f"{file}: {error}") from error


def _change(file: Path, text: str) -> None:
    """Write the whole file anew, or not at all: a full disk leaves the old one."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        target = file.resolve()
        beside = target.with_name(target.name + ".new")
        beside.write_text(text)
        beside.replace(target)
    except OSError as error:
        raise ConfigError(f"{file}: it cannot be written: {error}") from error


def _say(name: str, file: Path) -> None:
    """What holds now: another source may be stronger than the file that was changed."""
    try:
        held = next(setting for setting in settings(os.environ) if setting.name == name)
    except ConfigError as error:
        raise ConfigError(f"{file} was written, but there is more to fix: {error.message}") from error
    click.echo(_sentence(held, name))
    if held.source and held.source != str(file):
        click.echo(f"it comes from {held.source}, which overrides {file}", err=True)


def _sentence(held: ConfiguredSetting, name: str) -> str:
    return f"{name} = {plain(held.value)}" if held.source else f"{name} is not set"
