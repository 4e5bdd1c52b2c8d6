"""What we need from outside, and the few errors it may raise. Adapters stand in `spotwarden.gcp`."""

from spotwarden.ports.bucket import (
    DESCRIBED_AT_MOST,
    SHOWN_AT_MOST,
    Entry,
    HeldObject,
    Store,
    Stored,
    Transfers,
    unwatched,
)
from spotwarden.ports.cloud import Cloud, no_calls
from spotwarden.ports.compute import Compute
from spotwarden.ports.errors import BrokenError, ConflictError, RejectedError, UnansweredError
from spotwarden.ports.in_time import InTime
from spotwarden.ports.people import Mailer, NoMailer, NoTopic, Published, Topic
from spotwarden.ports.watching import Logs, Metrics

__all__ = [
    "DESCRIBED_AT_MOST",
    "SHOWN_AT_MOST",
    "BrokenError",
    "Cloud",
    "Compute",
    "ConflictError",
    "Entry",
    "HeldObject",
    "InTime",
    "Logs",
    "Mailer",
    "Metrics",
    "NoMailer",
    "NoTopic",
    "Published",
    "RejectedError",
    "Store",
    "Stored",
    "Topic",
    "Transfers",
    "UnansweredError",
    "no_calls",
    "unwatched",
]
