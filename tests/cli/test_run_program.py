"""A mistyped program is found in the folder before anything is sent."""

import pytest

PLAIN = ("--job", "job", "--machine", "e2-small", "--zone", "us-central1-a", "--no-follow")


@pytest.fixture(autouse=True)
def code(tmp_path, monkeypatch):
    """A folder with two programs, in which the commands are typed."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text("")
    (tmp_path / "model").mkdir()
    (tmp_path / "model/__init__.py").write_text("")
    (tmp_path / "model/eval.py").write_text("")
    (tmp_path / "steps").mkdir()
    (tmp_path / "steps/first.sh").write_text("")
    return tmp_path


@pytest.mark.parametrize(
    ("command", "meant"),
    [
        (["python", "trian.py", "--lr", "1"], "train.py"),
        (["python3 trian.py --out $SPOTWARDEN_OUTPUT"], "train.py"),
        (["bash", "steps/frist.sh"], "steps/first.sh"),
        (["python3.12", "-u", "-X", "dev", "trian.py"], "train.py"),
        (["torchrun", "--standalone", "--nproc-per-node", "8", "trian.py", "--lr", "1"], "train.py"),
        (["python", "-m", "torch.distributed.run", "--nproc-per-node=8", "trian.py"], "train.py"),
        (["accelerate", "launch", "--config_file", "a.yaml", "trian.py"], "train.py"),
        (["deepspeed", "--num_gpus", "8", "trian.py", "--deepspeed", "ds.json"], "train.py"),
        (["uv", "run", "trian.py"], "train.py"),
        (["uv", "run", "--with", "numpy", "--frozen", "python", "trian.py"], "train.py"),
        (["poetry", "run", "python", "trian.py"], "train.py"),
        (["uv", "run", "accelerate", "launch", "trian.py"], "train.py"),
        (["bash", "-c", "python trian.py && echo done"], "train.py"),
        (["bash", "-euo", "pipefail", "steps/frist.sh"], "steps/first.sh"),
        (["LR=1 python trian.py>log; date"], "train.py"),
        (["bash -lc 'python trian.py'"], "train.py"),
        (["python", "-m", "trian"], "train"),
        (["accelerate", "launch", "-m", "model.evla"], "model.eval"),
        (["uv", "run", "-m", "modle.eval"], "model.eval"),
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
        ["--", "python", "-m", "trainer"],
        ["--", "python", "-m", "pytest"],
        ["--", "python", "-m", "models.eval"],
        ["--", "python", "-m", "model.eval"],
        ["--", "python", "-c", "trian.py"],
        ["--container", "me/image", "--", "python", "-m", "trian"],
        ["--", "uv", "run", "mytool", "trian.py"],
        ["--", "uv", "run", "trian"],
        ["--", "uv", "run", "--directory", "steps", "trian.py"],
        ["--", "poetry", "run", "trian.py"],
        ["--", "accelerate", "launch", "/opt/trian.py"],
        ["--", "deepspeed", "--no_python", "trian.py"],
        ["--", "torchrun", "mytool", "trian.py"],
        ["--", "bash", "-c", "cd steps; python trian.py"],
        ["--", "bash", "-c", "python trai?.py"],
        ["--", "bash", "-c", "python 'trian.py"],
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
    said = workstation.run("run", *PLAIN, *words).output
    assert "is not in the folder" not in said
    assert "is outside of the folder" not in said


def test_a_link_to_what_only_the_vm_has_is_let_through(workstation, code):
    """It is in the folder and it is sent, though nothing is behind it here."""
    (code / "first.py").symlink_to("/opt/of-the-image/first.py")
    (code / "firsts.py").write_text("")
    assert "is not in the folder" not in workstation.run("run", *PLAIN, "--", "python", "first.py").output


def test_a_file_outside_of_the_folder_is_refused(workstation, code):
    """It is there, so it is meant, and the VM will not have it."""
    said = workstation.refused("run", *PLAIN, "--code", "steps", "--", "python", "../train.py")
    assert f"../train.py is outside of the folder that is sent, {code / 'steps'}" in said
    assert "Send a folder that holds it with --code" in said


def test_a_file_by_its_path_on_this_machine_is_refused(workstation, code):
    """On the VM the code has another path; a container may have the same."""
    words = ("python", str(code / "train.py"))
    assert "Write train.py" in workstation.refused("run", *PLAIN, "--", *words)
    said = workstation.run("run", *PLAIN, "--container", "me/image", "--", *words).output
    assert "has another path on the VM" not in said


@pytest.mark.parametrize(
    "command", [["python", "train.py"], ["python", "-m", "train"], ["uv", "run", "train.py"]]
)
def test_a_program_that_is_left_out_of_what_is_sent_is_refused(workstation, code, command):
    """By a file of git's, also one that leaves out its folder; what brings it back is named."""
    (code / ".gitignore").write_text("tra*.py\n")
    said = workstation.refused("run", *PLAIN, "--", *command)
    assert "it is left out of what is sent (.gitignore" in said
    assert "write !train.py into .spotwardenignore" in said
    (code / ".spotwardenignore").write_text("!train.py\n")
    assert "left out of what" not in workstation.run("run", *PLAIN, "--", *command).output


def test_a_program_in_a_folder_that_is_left_out_is_refused(workstation, code):
    """As all that is in it."""
    (code / ".gitignore").write_text("/steps/\n")
    said = workstation.refused("run", *PLAIN, "--", "bash", "steps/first.sh")
    assert "left out of what is sent" in said


@pytest.mark.parametrize("option", ["--dry-run", "--script-only"])
def test_a_mistyped_program_is_refused_before_its_script_is_shown(workstation, code, option):
    """Whoever looks at the script first should not launch it later, and only then hear of it."""
    said = workstation.refused("run", *PLAIN, option, "--", "python", "trian.py")
    assert "Did you mean train.py?" in said
    assert not (code / ".spotwarden").exists()


@pytest.mark.parametrize(
    ("command", "meant"), [(["python", "trian.py"], "tarin.py"), (["python", "-m", "trian"], "triaan")]
)
def test_a_file_that_is_sent_is_meant_before_one_that_is_left_out(workstation, code, command, meant):
    """Though the other would come first."""
    (code / f"{meant.removesuffix('.py')}.py").write_text("")
    (code / ".spotwardenignore").write_text("train.py\n")
    assert f"Did you mean {meant}?" in workstation.refused("run", *PLAIN, "--", *command)


@pytest.mark.parametrize("command", [["python", "trian.py"], ["python", "-m", "trian"]])
def test_a_file_that_is_meant_and_left_out_is_said_to_be(workstation, code, command):
    """It alone is near: its name would only be refused again."""
    (code / ".spotwardenignore").write_text("train.py\n")
    said = workstation.refused("run", *PLAIN, "--", *command)
    assert "is not in the folder that is sent" in said
    assert "it is left out of what is sent (.gitignore" in said
    assert "write !train.py into .spotwardenignore" in said
    assert "Did you mean" not in said
