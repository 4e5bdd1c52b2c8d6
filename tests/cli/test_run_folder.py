"""The folder with the create script: written, kept, and never written over what its developer did."""

import click
import pytest

from spotwarden.cli.launching import folder as rooms
from spotwarden.cli.launching.folder import digest, read_kit, write

TEXTS = {"create-instance.sh": "create\n", "command.sh": "train\n"}


def test_files_are_written_byte_for_byte(tmp_path):
    """Whatever line ends are in them."""
    write(tmp_path / "a", {"x": "1\r\n2\n"}, overwrite=False)
    assert (tmp_path / "a/x").read_bytes() == b"1\r\n2\n"


def test_variables_are_for_nobody_elses_eyes(tmp_path):
    """The file is its developer's, and git passes it by; what the developer tells git stays."""
    write(tmp_path / "kept/job", {"environment": "A=1\n", "command.sh": "x"}, overwrite=False)
    assert (tmp_path / "kept/job/environment").stat().st_mode & 0o077 == 0
    assert (tmp_path / "kept/.gitignore").read_text() == "environment\n"
    (tmp_path / "kept/.gitignore").write_text("*\n")
    write(tmp_path / "kept/other", {"environment": "A=1\n"}, overwrite=False)
    assert (tmp_path / "kept/.gitignore").read_text() == "*\n"


def test_what_was_not_edited_is_written_anew(tmp_path):
    """And a file that is no longer needed goes."""
    write(tmp_path, TEXTS, overwrite=False)
    write(tmp_path, {"create-instance.sh": "other\n"}, overwrite=False)
    assert (tmp_path / "create-instance.sh").read_text() == "other\n"
    assert not (tmp_path / "command.sh").exists()


@pytest.mark.parametrize("name", TEXTS)
def test_what_was_edited_stays_and_nothing_is_written(tmp_path, name):
    """The message names it, and both ways on."""
    write(tmp_path / "job", TEXTS, overwrite=False)
    (tmp_path / "job" / name).write_text("mine\n")
    with pytest.raises(click.ClickException) as refused:
        write(tmp_path / "job", {**TEXTS, "new": "x"}, overwrite=False)
    assert f"you have edited {name}" in refused.value.message
    assert "spotwarden submit" in refused.value.message
    assert "--overwrite" in refused.value.message
    assert (tmp_path / "job" / name).read_text() == "mine\n"
    assert not (tmp_path / "job/new").exists()


def test_a_script_that_somebody_else_put_there_stays(tmp_path):
    """Of a folder that we have never written nothing is known, so all of it is somebody's."""
    (tmp_path / "create-instance.sh").write_text("mine\n")
    with pytest.raises(click.ClickException, match=r"you have edited create-instance\.sh"):
        write(tmp_path, TEXTS, overwrite=False)


def test_an_edit_that_comes_to_the_same_is_none(tmp_path):
    """Who writes by hand what we would write keeps it."""
    write(tmp_path, TEXTS, overwrite=False)
    changed = {**TEXTS, "command.sh": "other\n"}
    (tmp_path / "command.sh").write_text("other\n")
    write(tmp_path, changed, overwrite=False)
    assert (tmp_path / "command.sh").read_text() == "other\n"


def test_it_is_written_over_where_that_is_said(tmp_path):
    """And counts as written from then on."""
    write(tmp_path, TEXTS, overwrite=False)
    (tmp_path / "command.sh").write_text("mine\n")
    write(tmp_path, TEXTS, overwrite=True)
    write(tmp_path, {**TEXTS, "command.sh": "next\n"}, overwrite=False)
    assert (tmp_path / "command.sh").read_text() == "next\n"


def test_the_job_kit_is_here_and_has_a_digest(tmp_path, monkeypatch):
    """One byte of it makes another; where it is missing, the message says where it was looked for."""
    kit = read_kit()
    assert set(kit) == {"startup.sh", "shutdown.sh"}
    assert digest(kit) != digest({**kit, "startup.sh": kit["startup.sh"] + "\n"})
    monkeypatch.setattr(rooms, "_PLACES", (tmp_path,))
    with pytest.raises(click.ClickException, match="the job kit is missing"):
        read_kit()
