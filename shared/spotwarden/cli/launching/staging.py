"""What a launch brings, sent to a place of its own until its attempt is on record.

Of two commands that launch one job at once, exactly one creates the record of the attempt. So no command
writes over what the job has stored before it holds that record: it sends what differs to
`<job>/staged/<digest>`, and a list of it, which the record names. `in_place` makes them the job's.
"""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

import click
import msgspec

from spotwarden import typed
from spotwarden.cli.bars import bar
from spotwarden.cli.context import Context
from spotwarden.engine.fan_out import beside
from spotwarden.layout import Code, Layout, ObjectName, RunRecord, StagedFile
from spotwarden.model.attempt import Attempt
from spotwarden.model.facts import JobFacts
from spotwarden.ports import HeldObject, Transfers
from spotwarden.recovery import submission

AT_ONCE = 8
"""Files on their way at a time; each holds one piece of `gcp.transfers` in memory."""
LIST_AT_MOST = 256 * 1024 * 1024
"""Bytes of the list of a launch's files: more than a million of them."""
BLOCK = 1024 * 1024


class StagedList(msgspec.Struct, frozen=True, kw_only=True):
    """The files of one launch: the digest under which each object's content lies, and what is to go."""

    files: Mapping[str, str] = {}
    outdated: Mapping[str, int] = {}


typed.prepare(StagedList)


class Sent(msgspec.Struct, frozen=True, kw_only=True):
    """Of some files: those that the job has not got as they are now, and their bytes."""

    names: tuple[str, ...]
    size: int


class Staging:
    """The files of one launch. An attempt that is under way takes none: its files must be these already."""

    def __init__(self, context: Context, facts: JobFacts, folder: Path) -> None:
        self._files: Transfers = context.files()
        self._layout = context.settings.layout
        self._job = facts.job
        self._folder = folder
        self._going_on = facts.ledger[-1].attempt if submission.in_flight(facts) else None
        # What a launch that was cut off may have put in place by halves is compared with nothing.
        self._cut_off = None if self._going_on else submission.unplaced(facts)
        known = self._going_on or self._cut_off
        self._expected = staged_list(context, known) if known else None
        self._there: dict[str, HeldObject] | None = None
        self._staged: dict[str, str] = {}
        self._outdated: dict[str, int] = {}
        self._unlike: list[str] = []

    def held(self, prefix: str) -> dict[str, HeldObject]:
        """What the job has stored below the prefix, by name."""
        return {held.name: held for held in self._files.held(prefix)}

    def text(self, name: ObjectName, data: bytes) -> tuple[str, Path]:
        """A small object as a file of this machine, by its name in the bucket."""
        built = self._layout.build(name)
        file = self._folder / sha256(built.encode()).hexdigest()
        file.write_bytes(data)
        return built, file

    def add(self, wanted: Mapping[str, Path], held: Mapping[str, HeldObject], label: str = "") -> Sent:
        """Send those of the files that the job has not got; with a label, how far that is can be seen."""
        with beside(AT_ONCE, AT_ONCE) as pool:
            names = list(wanted)
            changed = pool.map(lambda name: not self._same(name, wanted[name], held.get(name)), names)
            missing = {name: wanted[name] for name, differs in zip(names, changed, strict=True) if differs}
        if self._going_on:
            self._unlike += [name for name in missing if name != self._layout.build(RunRecord(job=self._job))]
            return Sent(names=(), size=0)
        size = sum(file.stat().st_size for file in missing.values())
        digests = {name: digest_of(name, file) for name, file in missing.items()}
        there = self._already()
        places = {
            name: self._layout.build(StagedFile(job=self._job, digest=digests[name])) for name in missing
        }
        _upload(
            self._files,
            {places[name]: file for name, file in missing.items() if places[name] not in there},
            label,
        )
        self._staged |= digests
        return Sent(names=tuple(missing), size=size)

    def _same(self, name: str, file: Path, held: HeldObject | None) -> bool:
        """Whether the job has this very content, or will have once its attempt's files are in place."""
        if self._going_on and self._expected and name in self._expected.files:
            return self._expected.files[name] == digest_of(name, file)
        return not self._cut_off and held is not None and self._files.same(file, held)

    def _already(self) -> dict[str, HeldObject]:
        """What a command that was cut off has sent."""
        if self._there is None:
            self._there = self.held(self._layout.staged(self._job))
        return self._there

    def outdate(self, held: HeldObject) -> None:
        """Let an object go when the files are put in place."""
        self._outdated[held.name] = held.generation

    def checksum(self, name: str, held: HeldObject | None) -> str:
        """The CRC32C of an object as it will be; "" where nobody knows."""
        if name not in self._staged:
            return held.crc32c if held else ""
        place = self._layout.build(StagedFile(job=self._job, digest=self._staged[name]))
        found = self.held(place).get(place)
        return found.crc32c if found else ""

    def finish(self) -> str:
        """Send the list, once all that it names has arrived; gives its digest, "" where nothing differs.

        Raises:
            ClickException: an attempt is under way, with other files than these.
        """
        if self._going_on:
            self._refuse_unlike(self._going_on)
            return self._going_on.staged
        if self._cut_off:
            self._replace_all_of(self._cut_off)
        if not self._staged and not self._outdated:
            return ""
        data = msgspec.json.encode(StagedList(files=self._staged, outdated=self._outdated))
        digest = sha256(data).hexdigest()
        name, file = self.text(StagedFile(job=self._job, digest=digest), data)
        _upload(self._files, {name: file}, "")
        return digest

    def _replace_all_of(self, cut: Attempt) -> None:
        """Let nothing stay of a launch that was cut off among its files: its own go, or are replaced here."""
        in_place = [held for name, held in self._of(cut).items() if name not in self._staged]
        folder = self._layout.metadata(self._job)
        for held in in_place:
            self.outdate(held)
        if others := sorted(held.name for held in in_place if not held.name.startswith(folder)):
            raise click.ClickException(
                f"attempt {cut.number} of {self._job}, by {cut.owner or 'somebody'}, was interrupted while it"
                f" replaced the job's files. {', '.join(others[:3])} may be of that launch. Nothing was"
                " launched. Send that again, too (--code, --input)"
            )

    def _of(self, cut: Attempt) -> dict[str, HeldObject]:
        """What the launch has put in place already, by name; all that it would have, where nobody knows."""
        files = self._expected.files if self._expected else {self._layout.build(Code(job=cut.job)): ""}
        there, found = self._already(), dict[str, HeldObject]()
        for name, digest in files.items():
            held = self.held(name).get(name)
            sent = there.get(self._layout.build(StagedFile(job=cut.job, digest=digest))) if digest else None
            if held and (sent is None or (sent.size, sent.crc32c) == (held.size, held.crc32c)):
                found[name] = held
        return found

    def _refuse_unlike(self, attempt: Attempt) -> None:
        if self._unlike:
            raise click.ClickException(
                f"{self._job} is being launched with other files than these, as attempt {attempt.number}"
                f" by {attempt.owner or 'somebody'}: {', '.join(sorted(self._unlike)[:3])}. Nothing was"
                f" replaced; `spotwarden stop {self._job}` first, or choose another name with --job"
            )


@contextmanager
def staging(context: Context, facts: JobFacts) -> Iterator[Staging]:
    """The files of a launch of this job, as it was before anything was sent."""
    with TemporaryDirectory(prefix="spotwarden-") as folder:
        yield Staging(context, facts, Path(folder))


def staged_list(context: Context, attempt: Attempt) -> StagedList | None:
    """The list that a record names; None where it names none, or the list is gone or not what it was."""
    if not attempt.staged:
        return None
    layout: Layout = context.settings.layout
    name = layout.build(StagedFile(job=attempt.job, digest=attempt.staged))
    stored = context.cloud.store.read(name, at_most=LIST_AT_MOST)
    if stored is None or sha256(stored.data).hexdigest() != attempt.staged:
        return None
    return typed.decode(stored.data, StagedList)


def digest_of(name: str, file: Path) -> str:
    """What names a file on its way: its object's name is in it, so no two objects share what lies there."""
    whole = sha256(f"{name}\0".encode())
    with file.open("rb") as source:
        while block := source.read(BLOCK):
            whole.update(block)
    return whole.hexdigest()


def _upload(files: Transfers, wanted: Mapping[str, Path], label: str) -> None:
    """Send them all; the first failure ends it, and what has arrived need not be sent again."""
    if not wanted:
        return
    if not label:
        _send(files, wanted)
        return
    with bar(label, sum(file.stat().st_size for file in wanted.values())) as moved:
        _send(files, wanted, moved=moved)


def _send(files: Transfers, wanted: Mapping[str, Path], **watched: Callable[[int], None]) -> None:
    if AT_ONCE == 1:
        for name, file in wanted.items():
            files.upload(file, name, **watched)
        return
    pool = ThreadPoolExecutor(AT_ONCE)
    waiting = [pool.submit(files.upload, file, name, **watched) for name, file in wanted.items()]
    try:
        for transfer in waiting:
            transfer.result()
    finally:
        # Nothing is waited for: all are done, or the bar cuts short those that still run.
        pool.shutdown(wait=False, cancel_futures=True)
