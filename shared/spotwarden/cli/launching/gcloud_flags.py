"""What `--flag` says of flags that `run` writes itself: each is in the script once."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click

MODEL = "--provisioning-model"
_OPTIONS: Mapping[str, str] = {
    "--machine-type": "--machine",
    "--accelerator": "--gpu",
    "--zone": "--zone",
    "--region": "--region",
    "--image": "--image",
    "--image-family": "--image-family",
    "--image-project": "--image-project",
    "--count": "--nodes",
    "--name-pattern": "--job",
    "--predefined-names": "--job",
}
"""What is known of the job by an option of `run`: prices and checks would be those of another VM."""


def with_model(said: Mapping[str, Any]) -> dict[str, Any]:
    """The options, where a flag names the provisioning model: any other than spot is as `--on-demand` is.

    Raises:
        UsageError: a flag is an option's own, or contradicts one; says what to write.
    """
    flags: Sequence[str] = said["flags"]
    for flag in flags:
        if option := _OPTIONS.get(_name(flag), ""):
            raise click.UsageError(f"--flag={flag}: use {option}")
        if said["tags"] and _name(flag) == "--labels":
            raise click.UsageError(
                f"--flag={flag} would replace the labels of --tag: use --tag for all of them"
            )
    models = [value.upper().replace("-", "_") for name, value in map(_parts, flags) if name == MODEL]
    if not models:
        return dict(said)
    if models[-1] != "SPOT":
        return {**said, "on_demand": True}
    if said["on_demand"]:
        raise click.UsageError(f"--flag={MODEL}=SPOT contradicts --on-demand: leave one of them out")
    return dict(said)


def without(own: Iterable[str], flags: Iterable[str]) -> list[str]:
    """Those of the flags that `run` writes which `--flag` does not replace."""
    replaced = {*map(_name, flags)}
    return [flag for flag in own if _name(flag) not in replaced]


def _parts(flag: str) -> tuple[str, str]:
    name, _, value = flag.partition("=")
    return name, value


def _name(flag: str) -> str:
    return _parts(flag)[0]
