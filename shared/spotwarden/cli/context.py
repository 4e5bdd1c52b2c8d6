"""What every command opens: settings, policy, cloud; and how its errors reach a person."""

import getpass
import os
from datetime import timedelta
from uuid import uuid4

import click
import msgspec

from spotwarden import clock
from spotwarden.cli.owners import owner_of
from spotwarden.cli.table import duration
from spotwarden.engine.executor import Executor
from spotwarden.engine.log import silent
from spotwarden.engine.policy_file.reading import PolicyError, read_policy
from spotwarden.engine.settings import Settings, SettingsError
from spotwarden.gcp.connect import connect
from spotwarden.model.policy import Mode, Policy
from spotwarden.model.tick import Tick
from spotwarden.ports import Cloud, Logs, Store, Transfers

EXAMPLES = {"notices": "spotwarden-notices"}
"""What a setting usually is, where it is not of one's own."""
CLOCK_OFF = timedelta(minutes=2)
"""How far a machine's clock may be off; governance allows its functions no more (`governance.clock_skew`)."""


class Context(msgspec.Struct, frozen=True, kw_only=True):
    """An open command. Its policy enforces: what a developer types is meant."""

    settings: Settings
    policy: Policy
    cloud: Cloud

    def executor(self, tick: Tick) -> Executor:
        """What carries out the actions of this command."""
        return Executor(self.cloud, self.settings.layout, self.policy, tick, write_line=silent)

    def check_clock(self) -> None:
        """Refuse to write while this machine's clock is off; to be called once something was read.

        What a person asks for is dated, and compared with what Compute Engine and Cloud Storage date: a stop
        from the future would outlast a later start.
        """
        ahead = self.cloud.clock_ahead()
        if ahead is None or abs(ahead) <= CLOCK_OFF:
            return
        way = "ahead of" if ahead > timedelta(0) else "behind"
        raise click.ClickException(
            f"this machine's clock is {duration(abs(ahead))} {way} Google's. Nothing was changed. Set the"
            " clock, then run the command again"
        )

    def files(self) -> Transfers:
        """A developer's own files, to and from the bucket; opened for whoever asks."""
        from spotwarden.gcp.transfers import CloudFiles

        return CloudFiles(project=self.settings.project, bucket=self.settings.bucket)

    def unknown_job(self, job: str) -> str:
        """What a person is told who names a job that is not there."""
        return f"unknown job {job!r} in gs://{self.settings.bucket}. To list jobs: spotwarden jobs"

    def bucket(self, name: str) -> Store:
        """Another bucket than that of the jobs, as a developer may read it."""
        return connect(**{**self.settings.connection(), "bucket": name}).store

    def logs(self) -> Logs:
        """What VMs have said; opened for whoever asks."""
        from spotwarden.gcp.logs import CloudLogging

        return CloudLogging(project=self.settings.project, endpoint=self.settings.logging_endpoint)

    def agreed(self) -> Policy:
        """The policy whose bounds hold; where there is no file here, that of the defaults."""
        file = self.settings.policy_file
        try:
            return read_policy(file) if file.exists() else self.policy
        except PolicyError as error:
            raise click.ClickException(str(error)) from error

    def deployed(self) -> Policy:
        """The same policy, in the mode in which it is deployed."""
        policy = self.agreed()
        return msgspec.structs.replace(policy, mode=self.settings.mode or policy.mode)


def open_context() -> Context:
    """Read the environment and open the cloud; a `ClickException` says what to set."""
    try:
        settings = Settings.read(os.environ)
    except SettingsError as error:
        raise click.ClickException(_unset(error)) from error
    policy = Policy(version="command", mode=Mode.ENFORCE)
    cloud = connect(**settings.connection())
    return Context(settings=settings, policy=policy, cloud=cloud)


_LOCAL = 'Or use the local cloud: eval "$(spotwarden local env)"'
_LOCAL_WITHOUT_BUCKET = (
    "This local cloud has none of them, since it was started without --functions. To start one that has:"
    " spotwarden local serve --functions"
)


def _unset(error: SettingsError) -> str:
    """What to type for each setting that is missing; what else is wrong as it is."""
    if not error.missing:
        return str(error)
    names = [name.removeprefix("SPOTWARDEN_").lower() for name in error.missing]
    lines = [f"  spotwarden config set {name} {EXAMPLES.get(name, f'my-{name}')}" for name in names]
    first = f"{' and '.join(', '.join(names).rsplit(', ', 1))} {'is' if len(names) == 1 else 'are'} not set."
    return "\n".join([
        f"{first} Set each once, with your own values:",
        *lines,
        _LOCAL_WITHOUT_BUCKET if "SPOTWARDEN_LOCAL_URL" in os.environ else _LOCAL,
    ])  # fmt: skip


def new_tick(command: str) -> Tick:
    """A command's own tick."""
    return Tick(function=f"cli_{command}", sweep=uuid4().hex, now=clock.now(), began=clock.machine())


def default_owner() -> str:
    """Who submits, unless told otherwise: `SPOTWARDEN_OWNER`, else the login name."""
    if not (said := os.environ.get("SPOTWARDEN_OWNER")):
        return getpass.getuser()
    try:
        return owner_of(said)
    except ValueError as error:
        raise click.ClickException(f"SPOTWARDEN_OWNER: {error}") from error
