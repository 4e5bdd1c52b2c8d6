"""The policy file → the policy, or a clear refusal; never half of it."""

import tomllib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from spotwarden.engine.policy_file.document import read_document
from spotwarden.model.policy import Mode, Policy
from spotwarden.model.values import iso_duration


class PolicyError(Exception):
    """The policy file cannot be read as one: says which file, and every place in it that is wrong."""


def read_policy(file: Path, mode: Mode | None = None, ops: str = "") -> Policy:
    """Read `policy.toml`; durations are `90s`, `5m`, `1h30m`, `2d`.

    A `mode` wins over the file's; `ops` are told where the file names nobody.
    """
    try:
        policy, faults = _document(file.read_bytes())
    except FileNotFoundError:
        raise PolicyError(f"{file}: no such file; a policy is expected there") from None
    except (OSError, ValueError, RecursionError) as error:
        raise PolicyError(f"{file}: it cannot be read: {error}") from error
    if policy is None or faults:
        count = "1 fault" if len(faults) == 1 else f"{len(faults)} faults"
        listed = "\n".join(f"  {fault}" for fault in faults)
        raise PolicyError(f"{file}: {count}; nothing is done until it is fixed\n{listed}")
    governance = policy.governance
    if ops and not governance.ops:
        governance = msgspec.structs.replace(governance, ops=ops)
    return msgspec.structs.replace(policy, mode=mode or policy.mode, governance=governance)


@lru_cache(maxsize=2)
def _document(data: bytes) -> tuple[Policy | None, Sequence[str]]:
    """The same file is not understood anew for each event: that costs more than all else of most of them."""
    return read_document(read_toml(data))


def read_toml(data: bytes) -> dict[str, Any]:
    """The TOML document; `ValueError` says where it is none. Editors on Windows begin a file with a mark."""
    return tomllib.loads(data.decode("utf-8-sig"))


def durations(value: Any) -> Any:  # noqa: ANN401 — a TOML document has any shape until it is checked
    """Write each duration as ISO 8601 does, which msgspec reads as a timedelta."""
    if isinstance(value, dict):
        return {key: durations(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [durations(item) if isinstance(item, dict) else item for item in value]
    return iso_duration(value) if isinstance(value, str) else value
