"""Code and inputs on their way: only what is not there yet."""

import tarfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from spotwarden.cli.bars import amount, bar
from spotwarden.cli.context import new_tick
from spotwarden.cli.launching.asked import LaunchRequest
from spotwarden.cli.launching.in_place import put_in_place
from spotwarden.cli.launching.inputs import LaunchInput
from spotwarden.cli.launching.limits_file import job_file
from spotwarden.cli.launching.machines import MachineType
from spotwarden.cli.launching.package import packed
from spotwarden.cli.launching.sending import Synced, send_code, send_input
from spotwarden.cli.launching.staging import staging
from spotwarden.cli.launching.storing import look
from spotwarden.engine.policy_file.reading import durations, read_toml
from spotwarden.engine.settings import Settings
from spotwarden.layout import AttemptRecord, Layout, NotInLayoutError
from spotwarden.model.attempt import Attempt, AttemptState, Script
from spotwarden.model.jobfile import JobFile
from spotwarden.model.policy import Mode, Policy
from tests.fakes.cloud import MemoryCloud, memory_cloud
from tests.fakes.files import MemoryFiles
from tests.recovery.typed_commands import AtShell

LAYOUT = Layout()


class Shelf:
    """A bucket, and a developer who sends files of one job to it, launch after launch."""

    def __init__(self, cloud: MemoryCloud, files: MemoryFiles) -> None:
        self.files = files
        self._store = cloud.store
        settings = Settings(project="p", bucket="b", notices="n", policy_file=Path("policy.toml"))
        policy = Policy(version="test", mode=Mode.ENFORCE)
        self.context = AtShell(settings=settings, policy=policy, cloud=cloud.ports(), shelf=files)

    def launch(self, send):
        """Send it, record an attempt that names it, and put it in place."""
        facts = look(self.context, "job")
        with staging(self.context, facts) as stage:
            done = send(stage)
            staged = stage.finish()
        if staged:
            self._put_in_place(len(facts.ledger) + 1, staged)
        return done

    def cut_off(self) -> None:
        """Another launch was recorded, and ended before its files were in place."""
        record = self._record(2, "0" * 64)
        over = msgspec.structs.replace(record, state=AttemptState.STOPPED)
        self._store.write(
            LAYOUT.build(AttemptRecord(job="job", attempt=2)), msgspec.json.encode(over), generation=0
        )

    def _record(self, number: int, staged: str) -> Attempt:
        tick = new_tick("test")
        return Attempt(
            job="job",
            number=number,
            state=AttemptState.CLAIMED,
            created=tick.now,
            updated=tick.now,
            staged=staged,
            script=Script(generation=1, sha256=""),
        )

    def _put_in_place(self, number: int, staged: str) -> None:
        tick, record = new_tick("test"), self._record(number, staged)
        name = LAYOUT.build(AttemptRecord(job="job", attempt=number))
        self._store.write(name, msgspec.json.encode(record), generation=0)
        put_in_place(self.context, self.context.executor(tick), look(self.context, "job"), tick)
        over = msgspec.structs.replace(record, staged="", state=AttemptState.STOPPED)
        self._store.write(name, msgspec.json.encode(over), generation=None)

    def send(self, launch_input: LaunchInput) -> Synced:
        """Launch it with this input."""
        return self.launch(lambda stage: send_input(stage, "job", launch_input, LAYOUT))

    def send_code(self, code) -> str:
        """Launch it with the code of this folder."""
        with packed(code) as done:
            return self.launch(lambda stage: send_code(stage, done, "job/my-code.tar"))


@pytest.fixture
def shelf() -> Shelf:
    """An empty bucket."""
    cloud = memory_cloud()
    return Shelf(cloud, MemoryFiles(cloud.store))


@pytest.fixture
def files(shelf) -> MemoryFiles:
    """The files in it."""
    return shelf.files


@pytest.fixture
def data(tmp_path):
    """A folder with three files, one of them below."""
    folder = tmp_path / "data"
    (folder / "sub").mkdir(parents=True)
    for name, text in {"a": "1", "b c": "22", "sub/a": "333"}.items():
        (folder / name).write_text(text)
    return folder


def folder_input(data) -> LaunchInput:
    """It as an input."""
    return LaunchInput(name="data", address="gs://b/job/input/data/", local=data)


def names(files: MemoryFiles) -> list[str]:
    """What the bucket holds."""
    return [
        held.name for held in files.held("") if "/attempts/" not in held.name and "audit/" not in held.name
    ]


def test_a_folder_is_sent_with_all_that_is_in_it(shelf, files, data):
    """Below the input's name, whatever the files are called."""
    done = shelf.send(folder_input(data))
    assert names(files) == ["job/input/data/a", "job/input/data/b c", "job/input/data/sub/a"]
    assert (done.files, done.sent, done.size, done.stale) == (3, 3, 6, ())


def test_only_what_changed_is_sent_again(shelf, files, data):
    """A file of the same size with one other byte is; one that was only touched is not."""
    shelf.send(folder_input(data))
    files.uploads.clear()
    (data / "a").write_text("2")
    (data / "sub/a").touch()
    done = shelf.send(folder_input(data))
    assert [held.name for held in files.held("job/staged/")] == []
    assert len(files.uploads) == len({"the file", "the list"})
    assert (done.files, done.sent, done.size) == (3, 1, 1)


def test_what_no_file_has_any_more_is_named(shelf, files, data):
    """So that it can go; what is of another input, or of another job, is not."""
    for name in ("data-2", "data"):
        shelf.send(LaunchInput(name=name, local=data))
    (data / "a").unlink()
    done = shelf.send(folder_input(data))
    assert [held.name for held in done.stale] == ["job/input/data/a"]


def test_a_folder_in_the_place_of_a_file_leaves_nothing_of_it(shelf, files, data, tmp_path):
    """And the other way round."""
    file = tmp_path / "data.txt"
    file.write_text("x")
    one = LaunchInput(name="data", local=file)
    shelf.send(one)
    assert [held.name for held in shelf.send(folder_input(data)).stale] == ["job/input/data"]
    assert len(shelf.send(one).stale) == 3


def test_a_link_to_a_file_is_sent_as_what_it_shows(shelf, files, data, tmp_path):
    """A link to a folder, which may lead in a circle, is not followed."""
    (tmp_path / "elsewhere").write_text("there")
    (data / "link").symlink_to(tmp_path / "elsewhere")
    (data / "sub/up").symlink_to(data)
    assert shelf.send(folder_input(data)).files == 4
    assert "job/input/data/link" in names(files)


def test_a_name_that_no_object_can_have_is_told(shelf, files, data):
    """The message names the file; nothing is sent."""
    (data / "a\nb").write_text("x")
    with pytest.raises(Exception, match="cannot be an object") as refused:
        shelf.send(folder_input(data))
    assert not isinstance(refused.value, NotInLayoutError)
    assert names(files) == []


class _Failing(MemoryFiles):
    def upload(self, file, name, *, moved=lambda _count: None) -> None:
        if file.name == "b c":
            raise OSError("disk on fire")
        super().upload(file, name, moved=moved)


def test_what_has_arrived_before_a_failure_is_not_sent_again(data):
    """The failure rises; the next time only the rest goes. What was on its way meanwhile may arrive yet."""
    cloud = memory_cloud()
    with pytest.raises(OSError, match="on fire"):
        Shelf(cloud, _Failing(cloud.store)).send(folder_input(data))
    files = MemoryFiles(cloud.store)
    there = len(files.held("job/staged/"))
    assert Shelf(cloud, files).send(folder_input(data)).sent == 3
    assert 1 <= len(files.uploads) - len({"the list"}) <= 3 - there
    assert len(files.held("job/input/")) == 3


def test_code_that_did_not_change_is_not_sent_again(shelf, files, data, capsys):
    """Packed twice it has the same bytes; changed, it is sent."""
    for _ in range(2):
        shelf.send_code(data)
    assert len(files.uploads) == len({"the code", "the list"})
    assert "code: unchanged" in capsys.readouterr().err
    (data / "a").write_text("changed")
    assert shelf.send_code(data) == files.held("job/my-code.tar")[0].crc32c
    assert len(files.uploads) == 4


def test_after_a_launch_that_was_cut_off_nothing_stored_counts_as_unchanged(shelf, files, data):
    """It may replace what is there until its own files are gone: all is sent anew, and put in place then."""
    shelf.send_code(data)
    shelf.cut_off()
    files.uploads.clear()
    shelf.send_code(data)
    assert len(files.uploads) == len({"the code", "the list"})


def test_two_files_of_one_content_are_two_objects(shelf, files, tmp_path):
    """What lies where both are staged is named by the object's name, too."""
    (tmp_path / "data").mkdir()
    for name in "ab":
        (tmp_path / "data" / name).write_text("same")
    shelf.send(folder_input(tmp_path / "data"))
    assert names(files) == ["job/input/data/a", "job/input/data/b"]
    assert len(files.uploads) == len({"a", "b", "the list"})


def test_what_is_left_out_of_the_code_is_told(data):
    """By name, as far as there is room for names; so is a link that leads out of the folder."""
    (data / ".gitignore").write_text("x?\n")
    for number in range(7):
        (data / f"x{number}").write_text("x")
    (data / "out").symlink_to("/etc/hostname")
    with packed(data) as done, tarfile.open(done.tarball) as tar:
        assert set(tar.getnames()) == {".gitignore", "a", "b c", "out", "sub", "sub/a"}
        told = list(done.told())
    assert told[1].startswith("  left out: x0, x1, x2, x3, x4 and 2 more")
    assert "warning: out points outside the folder" in told[2]


def test_a_checkout_by_somebody_else_packs_to_the_same_bytes(data):
    """Whatever their umask is."""
    with packed(data) as done:
        before = done.tarball.read_bytes()
    (data / "a").chmod(0o600)
    with packed(data) as done:
        assert done.tarball.read_bytes() == before


def test_a_file_that_cannot_be_packed_is_told(data, monkeypatch):
    """Not as a traceback."""

    def fail(*_words, **_more):
        raise PermissionError(13, "Permission denied", "secret")

    monkeypatch.setattr(tarfile.TarFile, "add", fail)
    with pytest.raises(Exception, match=r"cannot be packed: .*secret"), packed(data):
        pass


@pytest.mark.parametrize(
    ("count", "said"),
    [(0, "0 bytes"), (999, "999 bytes"), (1000, "1.0 kB"), (99_900, "99.9 kB"), (123_456_789, "123 MB"),
     (5e12, "5.0 TB"), (5e15, "5000 TB")],
)  # fmt: skip
def test_amounts_are_told_in_two_figures_at_least(count, said):
    """In the unit that a person would take."""
    assert amount(count) == said


def test_without_a_terminal_a_bar_is_one_line(capsys):
    """At the end, on standard error."""
    with bar("sending x", 10) as moved:
        moved(4)
        moved(6)
    out, err = capsys.readouterr()
    assert (out, err) == ("", "sending x: 10 bytes\n")


def test_limits_become_a_job_file_that_is_read_back():
    """Each of them; nothing said is no file."""
    machine = MachineType(name="e2-small")
    bare = LaunchRequest(job="job", command=("x",), machine=machine)
    assert job_file(bare) == ""
    asked = msgspec.structs.replace(
        bare,
        owner='ada"\\@example.com',
        max_runtime=timedelta(hours=36, seconds=1),
        budget=1e-05,
        work=timedelta(days=2),
        deadline=datetime(2026, 12, 31, 18, tzinfo=UTC),
        places=("us-central1", "us-west1-b"),
    )
    read = msgspec.convert(durations(read_toml(job_file(asked).encode())), JobFile)
    assert read == JobFile(
        owner=asked.owner,
        email=asked.owner,
        max_runtime=asked.max_runtime,
        budget=asked.budget,
        work=asked.work,
        deadline=asked.deadline,
        places=asked.places,
    )
