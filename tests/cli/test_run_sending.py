"""Code and inputs on their way: only what is not there yet."""

import tarfile
from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from spotwarden.cli.bars import amount, bar
from spotwarden.cli.launching.asked import LaunchRequest
from spotwarden.cli.launching.inputs import LaunchInput
from spotwarden.cli.launching.limits_file import job_file
from spotwarden.cli.launching.machines import MachineType
from spotwarden.cli.launching.package import packed
from spotwarden.cli.launching.sending import send_code, send_input
from spotwarden.engine.policy_file.reading import durations, read_toml
from spotwarden.layout import Layout, NotInLayoutError
from spotwarden.model.jobfile import JobFile
from tests.fakes.files import MemoryFiles
from tests.fakes.store import MemoryStore

LAYOUT = Layout()


@pytest.fixture
def files() -> MemoryFiles:
    """An empty bucket."""
    return MemoryFiles(MemoryStore())


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
    return [held.name for held in files.held("")]


def test_a_folder_is_sent_with_all_that_is_in_it(files, data):
    """Below the input's name, whatever the files are called."""
    done = send_input(files, "job", folder_input(data), LAYOUT)
    assert names(files) == ["job/input/data/a", "job/input/data/b c", "job/input/data/sub/a"]
    assert (done.files, done.sent, done.size, done.stale) == (3, 3, 6, ())


def test_only_what_changed_is_sent_again(files, data):
    """A file of the same size with one other byte is; one that was only touched is not."""
    send_input(files, "job", folder_input(data), LAYOUT)
    files.uploads.clear()
    (data / "a").write_text("2")
    (data / "sub/a").touch()
    done = send_input(files, "job", folder_input(data), LAYOUT)
    assert files.uploads == ["job/input/data/a"]
    assert (done.files, done.sent, done.size) == (3, 1, 1)


def test_what_no_file_has_any_more_is_named(files, data):
    """So that it can go; what is of another input, or of another job, is not."""
    for name in ("data-2", "data"):
        send_input(files, "job", LaunchInput(name=name, local=data), LAYOUT)
    (data / "a").unlink()
    done = send_input(files, "job", folder_input(data), LAYOUT)
    assert [held.name for held in done.stale] == ["job/input/data/a"]


def test_a_folder_in_the_place_of_a_file_leaves_nothing_of_it(files, data, tmp_path):
    """And the other way round."""
    file = tmp_path / "data.txt"
    file.write_text("x")
    one = LaunchInput(name="data", local=file)
    send_input(files, "job", one, LAYOUT)
    assert [held.name for held in send_input(files, "job", folder_input(data), LAYOUT).stale] == [
        "job/input/data"
    ]
    assert len(send_input(files, "job", one, LAYOUT).stale) == 3


def test_a_link_to_a_file_is_sent_as_what_it_shows(files, data, tmp_path):
    """A link to a folder, which may lead in a circle, is not followed."""
    (tmp_path / "elsewhere").write_text("there")
    (data / "link").symlink_to(tmp_path / "elsewhere")
    (data / "sub/up").symlink_to(data)
    assert send_input(files, "job", folder_input(data), LAYOUT).files == 4
    assert "job/input/data/link" in names(files)


def test_a_name_that_no_object_can_have_is_told(files, data):
    """The message names the file; nothing is sent."""
    (data / "a\nb").write_text("x")
    with pytest.raises(Exception, match="cannot be an object") as refused:
        send_input(files, "job", folder_input(data), LAYOUT)
    assert not isinstance(refused.value, NotInLayoutError)
    assert names(files) == []


class _Failing(MemoryFiles):
    def upload(self, file, name, *, moved=lambda _count: None) -> None:
        if name.endswith("/b c"):
            raise OSError("disk on fire")
        super().upload(file, name, moved=moved)


def test_what_has_arrived_before_a_failure_is_not_sent_again(data):
    """The failure rises; the next time only the rest goes. What was on its way meanwhile may arrive yet."""
    store = MemoryStore()
    with pytest.raises(OSError, match="on fire"):
        send_input(_Failing(store), "job", folder_input(data), LAYOUT)
    files = MemoryFiles(store)
    there = len(names(files))
    assert 1 <= send_input(files, "job", folder_input(data), LAYOUT).sent <= 3 - there


def test_code_that_did_not_change_is_not_sent_again(files, data, capsys):
    """Packed twice it has the same bytes; changed, it is sent."""
    for _ in range(2):
        with packed(data) as done:
            send_code(files, done, "job/my-code.tar")
    assert files.uploads == ["job/my-code.tar"]
    assert "code: unchanged" in capsys.readouterr().err
    (data / "a").write_text("changed")
    with packed(data) as done:
        assert send_code(files, done, "job/my-code.tar") == files.held("")[0].crc32c
    assert len(files.uploads) == 2


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
    assert "warning: out leads out of the folder" in told[2]


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
