"""The job's code and the files beside its script."""

import io
import tarfile

import click
import pytest

from spotwarden.cli.launching.package import FILE_AT_MOST, FolderFiles, packed


def tarball(code) -> bytes:
    """The bytes that are sent for it."""
    with packed(code) as done:
        return done.tarball.read_bytes()


def members(data: bytes) -> dict[str, tarfile.TarInfo]:
    """What a tarball holds."""
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        return {info.name: info for info in tar}


def test_a_folder_is_packed_without_what_is_never_code(tmp_path):
    """Version control, caches and virtual environments stay at home."""
    for name in ("train.py", "lib/model.py", ".git/config", "lib/__pycache__/x.pyc", ".venv/bin/python"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    assert set(members(tarball(tmp_path))) == {"train.py", "lib", "lib/model.py"}


def test_the_same_folder_packs_to_the_same_bytes(tmp_path):
    """So that a later upload can tell that nothing changed."""
    (tmp_path / "train.py").write_text("x")
    assert tarball(tmp_path) == tarball(tmp_path)


def test_a_tarball_carries_no_names_of_people(tmp_path):
    """The developer's user name means nothing on the VM."""
    (tmp_path / "train.py").write_text("x")
    info = members(tarball(tmp_path))["train.py"]
    assert (info.uname, info.gname, info.uid, info.gid) == ("", "", 0, 0)


def test_a_tarball_is_taken_as_it_is(tmp_path):
    """Whoever packed it knows why."""
    (tmp_path / "a").mkdir()
    (tmp_path / "code.tar").write_bytes(tarball(tmp_path / "a"))
    assert tarball(tmp_path / "code.tar") == (tmp_path / "code.tar").read_bytes()


def test_a_file_that_is_no_tarball_is_refused(tmp_path):
    """The message names it."""
    (tmp_path / "code.zip").write_text("PK")
    with pytest.raises(click.ClickException, match=r"code\.zip is neither a folder nor a tarball"):
        tarball(tmp_path / "code.zip")


def test_only_files_that_were_asked_for_are_remembered(tmp_path):
    """Those, and no others, are stored beside the script."""
    (tmp_path / "used.sh").write_text("u")
    (tmp_path / "unused.sh").write_text("n")
    files = FolderFiles(tmp_path)
    assert files["used.sh"] == b"u"
    assert set(files) == {"used.sh", "unused.sh"}
    assert files.used == {"used.sh": b"u"}


@pytest.mark.parametrize("name", ["missing.sh", "../outside.sh", "/etc/hostname", "folder"])
def test_what_is_not_a_file_of_the_folder_is_not_there(tmp_path, name):
    """A script cannot reach out of its folder."""
    (tmp_path / "in/folder").mkdir(parents=True)
    (tmp_path / "outside.sh").write_text("x")
    assert name not in FolderFiles(tmp_path / "in")


def test_a_file_too_long_for_metadata_is_not_there(tmp_path):
    """256 KiB is Compute Engine's limit for a metadata value."""
    (tmp_path / "fits").write_bytes(b"x" * FILE_AT_MOST)
    (tmp_path / "long").write_bytes(b"x" * (FILE_AT_MOST + 1))
    files = FolderFiles(tmp_path)
    assert "fits" in files
    assert "long" not in files
