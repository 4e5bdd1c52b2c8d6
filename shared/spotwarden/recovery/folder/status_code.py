"""Which attempt a status code ends, by what its writer has put beside it.

The job kit writes `attempt` and `instance_id` as custom metadata of the object. A VM that lives longer than
it should writes its status while another attempt runs, and that ends nothing. Like all that job VMs write the
metadata is a hint: whoever may write a status may write any metadata with it. It tells what came late from
what did not; it proves nothing.
"""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

ATTEMPT = "attempt"
INSTANCE_ID = "instance_id"
TOLD_AT_MOST = 100
"""Characters of a status that are told."""
_NUMBER = re.compile("[1-9][0-9]{0,8}")


class AttemptClaim(Protocol):
    """An attempt on record, as far as it matters here."""

    @property
    def number(self) -> int:
        """Its place in the chain, from 1."""

    @property
    def created(self) -> datetime:
        """When it was claimed."""

    @property
    def instances(self) -> Mapping[str, str]:
        """The ids of its instances, by node."""

    @property
    def replaces(self) -> Mapping[str, str]:
        """The ids of those that it stands in for."""

    @property
    def planned(self) -> str:
        """Why a job that ran is moved; "" where it was lost."""

    @property
    def early(self) -> bool:
        """Whether what it stands in for may still run."""

    @property
    def lost(self) -> datetime | None:
        """When that was lost; None where a person asked for the attempt."""


def code_in(data: bytes) -> str:
    """The status as people are told it: on one line, and no more than its beginning."""
    return " ".join(data.decode(errors="replace").split())[:TOLD_AT_MOST]


def attempt_in(metadata: Mapping[str, str]) -> int | None:
    """The attempt that the metadata of a status names; None where it names none."""
    named = metadata.get(ATTEMPT, "")
    return int(named) if _NUMBER.fullmatch(named) else None


def is_late(metadata: Mapping[str, str], at: datetime, newest: AttemptClaim | None) -> bool:
    """Whether a status that was written `at` is of an attempt before the newest, and came too late.

    One that came before the newest's claim is the job's end all the same: the claim did not know of it. So
    is one of a VM that was to be moved, or was down and somebody has started, as long as nothing has taken
    over from it. One of two attempts ago never is, for the job has gone on since. One that names no attempt
    is taken for the newest's, and so is one of a VM that the newest has as its own.
    """
    said = attempt_in(metadata)
    if newest is None or said is None or said >= newest.number:
        return False
    waits = (newest.planned or _was_down(newest)) and not newest.instances
    own = newest.replaces if waits else newest.instances
    if metadata.get(INSTANCE_ID) in own.values():
        return False
    return said < newest.number - 1 or at > newest.created


def _was_down(newest: AttemptClaim) -> bool:
    """Whether the one VM that it stands in for did not run when it was claimed."""
    return newest.lost is not None and not newest.early and len(newest.replaces) == 1
