"""A mistyped program is found in the folder before anything is sent."""

import pytest

PLAIN = ("--job", "job", "--machine", "e2-small", "--zone", "us-central1-a", "--no-follow")


@pytest.fixture(autouse=True)
def code(tmp_path, monkeypatch):
    """A folder with two programs, in which the commands are typed."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text("")
    (tmp_path / "steps").mkdir()
    (tmp_path / "steps/first.sh").write_text("")
    return tmp_path


@pytest.mark.parametrize(
    ("command", "meant"),
    [
        (["python", "trian.py", "--lr", "1"], "train.py"),
        (["python3 trian.py --out $SPOTWARDEN_OUTPUT"], "train.py"),
        (["bash", "steps/frist.sh"], "steps/first.sh"),
    ],
)
def test_a_file_that_is_not_there_is_refused_with_the_one_meant(workstation, code, command, meant):
    """Nothing is written, and nothing is sent."""
    said = workstation.refused("run", *PLAIN, "--", *command)
    assert f"is not in the folder that is sent, {code}" in said
    assert f"Did you mean {meant}?" in said
    assert not (code / ".spotwarden").exists()


@pytest.mark.parametrize(
    "words",
    [
        ["--", "python", "train.py"],
        ["--", "exec", "python", "trian.py"],
        ["--", "python", "other.py"],
        ["--", "python", "-m", "trian.py"],
        ["--", "python", "/opt/trian.py"],
        ["--", "python $HERE/trian.py"],
        ["--", "python trai?.py"],
        ["--code", "steps", "--", "python", "../trian.py"],
        ["--container", "me/image", "--container-flags", "-w /app", "--", "python", "trian.py"],
        ["--", "python 'trian.py"],
        ["--setup", "make", "--", "python", "trian.py"],
        ["--no-code", "--", "python", "trian.py"],
    ],
)
def test_what_may_be_on_the_vm_is_let_through(workstation, words):
    """The image, the setup or the command itself may bring it."""
    assert "is not in the folder" not in workstation.run("run", *PLAIN, *words).output


def test_a_link_to_what_only_the_vm_has_is_let_through(workstation, code):
    """It is in the folder and it is sent, though nothing is behind it here."""
    (code / "first.py").symlink_to("/opt/of-the-image/first.py")
    (code / "firsts.py").write_text("")
    assert "is not in the folder" not in workstation.run("run", *PLAIN, "--", "python", "first.py").output
