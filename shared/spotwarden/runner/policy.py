"""The policy file → the policy, or a clear refusal; never half of it."""

import re
import tomllib
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec

from spotwarden.model.policy import Mode, Policy

_DURATION = re.compile(r"(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?")
SHORTEST_LEASE = timedelta(minutes=3)
_UNITS = (86_400, 3_600, 60, 1)


class PolicyError(Exception):
    """The policy file cannot be read as one: says which file, where in it, and what is wrong."""


def read_policy(file: Path, mode: Mode | None = None) -> Policy:
    """Read `policy.toml`, under another mode where one is given; durations are `90s`, `5m`, `1h30m`, `2d`."""
    try:
        policy = msgspec.convert(durations(read_toml(file.read_bytes())), Policy)
        _check(policy)
        return policy if mode is None else msgspec.structs.replace(policy, mode=mode)
    except FileNotFoundError:
        raise PolicyError(f"{file}: there is no policy file here") from None
    except (ValueError, msgspec.DecodeError) as error:
        raise PolicyError(f"{file}: {error}") from error


def _check(policy: Policy) -> None:
    """Refuse what would pass for a policy and yet could not work."""
    if policy.recovery.lease < SHORTEST_LEASE:
        said, least = policy.recovery.lease.total_seconds(), SHORTEST_LEASE.total_seconds()
        raise ValueError(
            f"recovery.lease is {said:.0f} s; it must be {least:.0f} s at least, for clocks may be a minute"
            " apart and nothing is sent in a lease's last minute"
        )


def read_toml(data: bytes) -> dict[str, Any]:
    """The TOML document; `ValueError` says where it is none."""
    return tomllib.loads(data.decode())


def durations(value: Any) -> Any:  # noqa: ANN401 — a TOML document has any shape until it is checked
    """Write each duration as ISO 8601 does, which msgspec reads as a timedelta."""
    if isinstance(value, dict):
        return {key: durations(inner) for key, inner in value.items()}
    match = _DURATION.fullmatch(value) if isinstance(value, str) and value else None
    if not match:
        return value
    seconds = sum(int(count or 0) * unit for count, unit in zip(match.groups(), _UNITS, strict=True))
    return f"PT{seconds}S"
