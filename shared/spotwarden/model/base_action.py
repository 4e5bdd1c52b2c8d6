"""What every action has, and the one that closes a job."""

import msgspec


class Action(msgspec.Struct, frozen=True, kw_only=True):
    """A change of the world, with the reason that goes into the audit."""

    reason: str


class CloseJob(Action, frozen=True, kw_only=True, tag=True):
    """Write down that the job was stopped, `reason` included, so that nothing brings it back.

    A job that is over already, or that no attempt is on record of, is left as it is.
    """

    job: str
