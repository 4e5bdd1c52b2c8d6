"""What a deployment sets: read once, from the environment."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from spotwarden.layout import Layout, NotInLayoutError
from spotwarden.model.policy import Mode

REQUIRED = {
    "SPOTWARDEN_PROJECT": "the Google Cloud project",
    "SPOTWARDEN_BUCKET": "the bucket that the jobs write to, without gs://",
    "SPOTWARDEN_NOTICES": "the Pub/Sub topic of notices, its short name",
}


WORKERS = 32
"""So many things one sweep works on at a time, unless it is told otherwise: each waits for calls, and little
else. Half of the 64 connections of a session (`gcp.session`), so that lists beside them find one."""


class SettingsError(Exception):
    """The environment lacks something or says something impossible; the message lists all of it.

    `missing` are the variables that are not set.
    """

    def __init__(self, said: str, missing: Sequence[str] = ()) -> None:
        super().__init__(said)
        self.missing = tuple(missing)


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Where everything is. An endpoint is "" for Google's own; a `mode` wins over the policy's.

    `ops` are told where the policy names nobody. The prices lie beside the policy unless told otherwise;
    `workers` is how many jobs one sweep works on at a time. Past `share_from` jobs it leaves them to further
    instances of its function.
    """

    project: str
    bucket: str
    notices: str
    layout: Layout = Layout()
    compute_endpoint: str = ""
    monitoring_endpoint: str = ""
    logging_endpoint: str = ""
    pubsub_endpoint: str = ""
    policy_file: Path
    prices_file: Path = Path("prices.toml")
    mode: Mode | None = None
    ops: str = ""
    workers: int = 1
    share_from: int = 50

    @classmethod
    def read(cls, environ: Mapping[str, str]) -> "Settings":
        """Read the environment; `SettingsError` names every variable that is missing."""
        if missing := [name for name in REQUIRED if not environ.get(name)]:
            named = "; ".join(f"{name} ({REQUIRED[name]})" for name in missing)
            raise SettingsError(f"not set: {named}", missing)
        policy_file = Path(environ.get("SPOTWARDEN_POLICY", "policy.toml"))
        return cls(
            project=environ["SPOTWARDEN_PROJECT"],
            bucket=environ["SPOTWARDEN_BUCKET"],
            notices=environ["SPOTWARDEN_NOTICES"],
            layout=_layout(environ.get("SPOTWARDEN_PREFIX", "")),
            compute_endpoint=environ.get("SPOTWARDEN_COMPUTE_ENDPOINT", ""),
            monitoring_endpoint=environ.get("SPOTWARDEN_MONITORING_ENDPOINT", ""),
            logging_endpoint=environ.get("SPOTWARDEN_LOGGING_ENDPOINT", ""),
            pubsub_endpoint=environ.get("SPOTWARDEN_PUBSUB_ENDPOINT", "") or _emulator(environ),
            policy_file=policy_file,
            prices_file=Path(environ.get("SPOTWARDEN_PRICES", "") or policy_file.with_name("prices.toml")),
            mode=_mode(environ.get("SPOTWARDEN_MODE", "")),
            ops=environ.get("SPOTWARDEN_OPS", ""),
            workers=_workers(environ.get("SPOTWARDEN_WORKERS", str(WORKERS))),
        )

    def connection(self) -> dict[str, str]:
        """What `spotwarden.gcp.connect` takes."""
        return {
            "project": self.project,
            "bucket": self.bucket,
            "topic": self.notices,
            "compute_endpoint": self.compute_endpoint,
            "monitoring_endpoint": self.monitoring_endpoint,
            "pubsub_endpoint": self.pubsub_endpoint,
        }


def _emulator(environ: Mapping[str, str]) -> str:
    """Where Google's own emulator listens, as its clients are told: nobody means Google who sets that."""
    host = environ.get("PUBSUB_EMULATOR_HOST", "")
    return f"http://{host}" if host else ""


def _layout(prefix: str) -> Layout:
    try:
        return Layout(prefix=prefix)
    except NotInLayoutError as error:
        raise SettingsError(f"SPOTWARDEN_PREFIX is {prefix!r}; {error.reason}, such as users/") from error


def _mode(said: str) -> Mode | None:
    try:
        return Mode(said) if said else None
    except ValueError:
        known = ", ".join(mode.value for mode in Mode)
        raise SettingsError(f"SPOTWARDEN_MODE is {said!r}; it can be {known}") from None


def _workers(said: str) -> int:
    if said.isdecimal() and 1 <= int(said) <= 64:  # noqa: PLR2004 — named in the message
        return int(said)
    raise SettingsError(f"SPOTWARDEN_WORKERS is {said!r}; it must be a number from 1 to 64")
