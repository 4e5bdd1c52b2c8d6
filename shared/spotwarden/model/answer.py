"""What a person says about a case."""

from datetime import datetime

import msgspec

from spotwarden.model.case import Case


class Keep(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Do nothing about it until this moment."""

    by: str
    until: datetime
    why: str = ""


class Release(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """It need not be kept any longer."""

    by: str
    why: str = ""


class Extend(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The job may go on for so many hours more."""

    by: str
    hours: float
    why: str = ""


class Approve(msgspec.Struct, frozen=True, kw_only=True):
    """The remedy may be applied although it is for more VMs than a sweep may act upon.

    `notice` is the request that is answered, "" for whichever is on record.
    """

    by: str
    notice: str = ""
    why: str = ""


Answer = Keep | Release | Extend | Approve


class Accepted(msgspec.Struct, frozen=True, kw_only=True):
    """The case as it is to be written. `note` is what its owner must know all the same."""

    case: Case
    reason: str
    note: str = ""


class AnswerRefused(msgspec.Struct, frozen=True, kw_only=True):
    """Nothing was changed, and why."""

    why: str


Answered = Accepted | AnswerRefused
