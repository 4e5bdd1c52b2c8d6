"""The policy file → the policy, or a clear refusal; never half of it."""

import re
import tomllib
from pathlib import Path
from typing import Any

import msgspec

from spotwarden.model.policy import Policy

_DURATION = re.compile(r"(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?")
_UNITS = (86_400, 3_600, 60, 1)


class PolicyError(Exception):
    """The policy file cannot be read as one: says which file, where in it, and what is wrong."""


def read_policy(file: Path) -> Policy:
    """Read `policy.toml`; durations are written as `90s`, `5m`, `1h30m` or `2d`."""
    try:
        return msgspec.convert(_durations(tomllib.loads(file.read_text(encoding="utf-8"))), Policy)
    except FileNotFoundError:
        raise PolicyError(f"{file}: there is no policy file here") from None
    except (tomllib.TOMLDecodeError, msgspec.ValidationError, UnicodeDecodeError) as error:
        raise PolicyError(f"{file}: {error}") from error


def _durations(value: Any) -> Any:  # noqa: ANN401 — a TOML document has any shape until it is checked
    """Replace each duration by its seconds, which msgspec reads as a timedelta."""
    if isinstance(value, dict):
        return {key: _durations(inner) for key, inner in value.items()}
    match = _DURATION.fullmatch(value) if isinstance(value, str) and value else None
    if not match:
        return value
    return sum(int(count or 0) * unit for count, unit in zip(match.groups(), _UNITS, strict=True))
