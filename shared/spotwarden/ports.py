"""What we need from outside, and the few errors it may raise. Adapters stand in `spotwarden.gcp`."""

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Protocol

import msgspec

from spotwarden.model.fleet import Fleet, Leftover
from spotwarden.model.instance import Instances, Operation, Operations
from spotwarden.model.letter import Letter
from spotwarden.model.load import Buckets, Loads
from spotwarden.model.logline import LogLine
from spotwarden.model.request import Request


class ConflictError(Exception):
    """The object's generation is not the one named: somebody else was first. Nothing was changed."""


class RejectedError(Exception):
    """The other side answered that it did not do it; `code` is its reason word (`alreadyExists`, …)."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message


class UnansweredError(Exception):
    """No answer, or one that leaves open whether the call was carried out. Asking again is safe."""


class BrokenError(ValueError):
    """An object of the bucket is not what its name says, or far too large for it; the message names it."""


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One row of a listing."""

    name: str
    generation: int
    updated: datetime
    size: int


class Stored(msgspec.Struct, frozen=True, kw_only=True):
    """The content of an object and the generation it was read at."""

    data: bytes
    generation: int
    updated: datetime


class Store(Protocol):
    """The bucket. Every write names the generation it expects."""

    def entries(self, prefix: str, *, glob: str = "", limit: int | None = None) -> list[Entry]:
        """All objects whose name begins with `prefix`, or match the glob, in the order of names."""

    def folders(self, prefix: str) -> list[str]:
        """The names of the folders directly below `prefix`, without it and without the slash."""

    def read(self, name: str, *, at_most: int = 4 * 1024 * 1024) -> Stored | None:
        """The object; None where there is none; `BrokenError` where it is over `at_most` bytes."""

    def write(self, name: str, data: bytes, *, generation: int | None, content_type: str = "") -> int:
        """Write under `generation` (0 creates, None overwrites anything) and return the new one.

        Raises `ConflictError`; `UnansweredError` where nobody knows whether it was written. A write that
        was carried out is never reported as a conflict with itself.
        """

    def delete(self, name: str, *, generation: int) -> bool:
        """Delete this generation; False where it is gone or newer."""


class Held(msgspec.Struct, frozen=True, kw_only=True):
    """A file as the bucket holds it; `crc32c` is its checksum, in base64 as Cloud Storage has it."""

    name: str
    generation: int
    size: int
    crc32c: str


def unwatched(count: int) -> None:
    """Nobody counts the bytes."""
    del count


class Transfers(Protocol):
    """A developer's own files, to and from the bucket, of any size; safe to use from several threads.

    `moved` hears of bytes as they go, in all no more than there are: what is sent again counts once.
    """

    def held(self, prefix: str) -> list[Held]:
        """All objects whose name begins with `prefix`, in the order of names."""

    def same(self, file: Path, held: Held) -> bool:
        """Whether the file has the very bytes of the object, by size and checksum; nothing is transferred."""

    def upload(self, file: Path, name: str, *, moved: Callable[[int], None] = unwatched) -> None:
        """Write the file as this object, whatever was there, in pieces; it arrives whole or not at all.

        Raises:
            UnansweredError: no answer, or it arrived damaged. Asking again is safe.
        """

    def download(
        self, held: Held, into: BinaryIO, *, start: int = 0, moved: Callable[[int], None] = unwatched
    ) -> None:
        """Write the bytes of this generation, from `start` on, into the open file.

        From 0 on they are held against the checksum; for the rest of a file ask `same` when it is whole.

        Raises:
            UnansweredError: no answer, the generation is there no more, or it arrived damaged.
        """


class Compute(Protocol):
    """Compute Engine, in one project."""

    def instances(self, *, names: Collection[str] = (), job: str = "") -> Instances:
        """Every instance of the project; with `names` those so called, with `job` those that carry its label.

        With both, an instance that fits either is given.
        """

    def operations(self, since: datetime) -> Operations:
        """Every operation on an instance that was asked for since then."""

    def launch(self, request: Request, request_id: str, *, before: datetime | None = None) -> Operation:
        """Send the create request; the same id never creates twice. `RejectedError`, `UnansweredError`.

        Nothing is sent at or after the moment `before`, the end of the caller's lease: `ConflictError`.
        """

    def start(
        self, zone: str, instance_id: str, request_id: str, *, before: datetime | None = None
    ) -> Operation:
        """Start a stopped instance, addressed by its numeric id; errors and `before` as `launch`."""

    def delete(
        self, zone: str, instance_id: str, request_id: str, *, before: datetime | None = None
    ) -> Operation:
        """Delete an instance, by its id; errors and `before` as `launch`; `RejectedError` notFound."""

    def operation(self, place: str, name: str) -> Operation:
        """How an operation in this zone or region stands; `RejectedError` notFound, `UnansweredError`."""

    def resource(self, zone: str, instance_id: str) -> Mapping[str, Any] | None:
        """The instance as Compute Engine's JSON, metadata values included; None where it is gone."""

    def disk(self, link: str) -> Mapping[str, Any] | None:
        """The disk that an instance's `disks[].source` names, as JSON; None where it is gone."""

    def offers(self, machine: str, accelerators: Collection[str]) -> frozenset[str]:
        """The zones that offer the machine type and all of the accelerator types; `UnansweredError`.

        A zone that could not be asked is left out.
        """

    def fleet(self, *, ids: Collection[str] = ()) -> Fleet:
        """Every VM of the project, in one aggregated list; with `ids` only these."""

    def stop(
        self, zone: str, instance_id: str, request_id: str, *, before: datetime | None = None
    ) -> Operation:
        """Stop an instance, by its id; errors and `before` as `delete`. One that is stopped stays so."""

    def label(self, zone: str, instance_id: str, labels: Mapping[str, str]) -> Operation:
        """Put labels on it; an empty value takes one off, all others stay as they are. Errors as `delete`."""

    def leftovers(self) -> tuple[tuple[Leftover, ...], tuple[str, ...]]:
        """Disks and addresses nobody uses, and snapshots, with a job's label; and unreachable scopes."""

    def remove(self, link: str, request_id: str, *, before: datetime | None = None) -> Operation:
        """Delete the disk, address or snapshot of this link; errors and `before` as `delete`."""


class Metrics(Protocol):
    """Cloud Monitoring, in one project."""

    def gpus(self, grid: Buckets, *, ids: Collection[str] = (), counts: bool = True) -> Loads:
        """How busy the GPUs of every instance were, or of these; what cannot be read is its `problem`.

        Without `counts` only `top` is asked for, which costs a third.
        """

    def cpus(self, since: datetime, until: datetime, *, ids: Collection[str] = ()) -> Mapping[str, float]:
        """The highest CPU utilisation of each instance in that time, in percent; `UnansweredError`."""

    def logged(
        self, since: datetime, until: datetime, *, ids: Collection[str] = ()
    ) -> Mapping[str, datetime]:
        """When each instance last wrote a log line in that time, to the minute or so; `UnansweredError`."""


class Logs(Protocol):
    """Cloud Logging, in one project."""

    def lines(self, ids: Collection[str], since: datetime, *, newest: int = 0) -> Iterable[LogLine]:
        """What instances have said since then, oldest first; with `newest` only so many of the last lines.

        They are asked for as they are taken. `RejectedError` where they may not be read; `UnansweredError`.
        """


class Published(NamedTuple):
    """A message that was accepted: under which id, and by when."""

    id: str
    at: datetime


class Topic(Protocol):
    """A Pub/Sub topic."""

    def publish(self, data: bytes, attributes: Mapping[str, str]) -> Published:
        """Publish and wait until it is accepted. `UnansweredError`."""


class Post(Protocol):
    """How letters leave: mail and web hooks."""

    def send(self, letter: Letter) -> str:
        """Hand it over and give the server's answer.

        Raises:
            RejectedError: it did not go out. `refused`: to this recipient it never will; `unsent`: it may.
            UnansweredError: it may have gone out, nobody knows.
        """


class NoPost:
    """For a function that sends nothing."""

    def send(self, letter: Letter) -> str:
        """Refuse it."""
        raise RejectedError("unsent", f"this function has no channel for {type(letter).__name__}")


def no_calls() -> Mapping[str, int]:
    """Nothing is counted."""
    return {}


class Cloud(msgspec.Struct, frozen=True, kw_only=True):
    """Everything outside, opened once per process.

    `calls` counts the requests that this process has made so far, by service.
    """

    store: Store
    compute: Compute
    notices: Topic
    metrics: Metrics
    post: Post = NoPost()
    calls: Callable[[], Mapping[str, int]] = no_calls
