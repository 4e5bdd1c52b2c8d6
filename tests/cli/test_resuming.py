"""A spot job that keeps nothing is launched, and its developer is told what that costs."""

import pytest

from spotwarden.cli.launching.resuming import warning_of_script
from spotwarden.create_script.request.stored import launch_of
from spotwarden.model.launch import StoredScript

WORDS = ("run", "--job", "job", "--machine", "e2-small", "--zone", "us-central1-a", "--script-only")
TOLD = "warning: neither the command nor the code names $SPOTWARDEN_OUTPUT"
COMMAND = ("--", "python train.py")


@pytest.fixture
def code(tmp_path, monkeypatch):
    """The folder of the code; its program keeps nothing."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text("print('trains')\n")
    return tmp_path


def told(workstation, *words):
    """What `run` says beside what it prints."""
    return workstation.run(*words).stderr


def test_a_spot_job_that_keeps_nothing_is_warned_of(workstation, code):
    """Each preemption pays for all work again."""
    assert TOLD in told(workstation, *WORDS, *COMMAND)


@pytest.mark.parametrize(
    "line", ["out = os.environ['SPOTWARDEN_OUTPUT']", "save('gs://bucket/last.pt')", "open('/gcs/b/last.pt')"]
)
def test_code_that_names_where_it_could_keep_something_is_not(workstation, code, line):
    """In any file that is sent."""
    (code / "src").mkdir()
    (code / "src" / "saving.py").write_text(f"{line}\n")
    assert TOLD not in told(workstation, *WORDS, *COMMAND)


def test_code_that_is_left_out_does_not_count(workstation, code):
    """It never reaches the VM."""
    (code / ".gitignore").write_text("old.py\n")
    (code / "old.py").write_text("os.environ['SPOTWARDEN_OUTPUT']\n")
    assert TOLD in told(workstation, *WORDS, *COMMAND)


@pytest.mark.parametrize(
    "words",
    [
        ("--on-demand", *COMMAND),
        ("--no-code", *COMMAND),
        ("--container", "docker.io/library/python:3.11", *COMMAND),
        ("--env", "OUT=gs://bucket/out", *COMMAND),
        ("--setup", "ln -s $SPOTWARDEN_OUTPUT runs", *COMMAND),
        ("--", "python train.py --out $SPOTWARDEN_OUTPUT"),
    ],
)
def test_who_says_where_to_keep_it_or_has_code_that_nobody_sees_is_not(workstation, code, words):
    """A warning that is wrong is soon not read."""
    assert TOLD not in told(workstation, *WORDS, *words)


CREATE = (
    "gcloud compute instances {what} --zone=us-central1-a --machine-type=e2-small --image-family=debian-12"
    " --image-project=debian-cloud --provisioning-model={model} --instance-termination-action={action}"
    " --metadata='^@@^{metadata}'{more}\n"
)


def of_script(metadata, *, code=None, what="create job", model="SPOT", action="DELETE", more=""):
    """What `submit` says of a script whose VMs have this metadata."""
    text = CREATE.format(what=what, model=model, action=action, metadata=metadata, more=more)
    launch = launch_of(StoredScript(name="s", text=text.encode(), generation=1), "demo")
    return warning_of_script(launch, code)


KIT = "startup-script=gsutil cp gs://$BUCKET/code .@@spotwarden-command=python train.py"


@pytest.mark.parametrize("metadata", [KIT, "startup-script=python /opt/train.py"])
@pytest.mark.parametrize("what", ["create job", "bulk create --name-pattern=job-# --count=2"])
def test_a_script_whose_program_keeps_nothing_is_warned_of_too(code, metadata, what):
    """By the command of the job kit, or its own startup script."""
    assert of_script(metadata, code=code, what=what).startswith(TOLD)
    assert of_script(metadata, what=what).startswith(TOLD)


@pytest.mark.parametrize(
    ("metadata", "more"),
    [
        ("spotwarden-command=python train.py --out $SPOTWARDEN_OUTPUT", {}),
        (KIT + "@@spotwarden-container=img", {}),
        ("startup-script=gsutil cp gs://b/train.py . && python train.py", {}),
        ("startup-script=docker run trainer", {}),
        ("startup-script=git clone https://example.com/train", {}),
        (KIT, {"model": "STANDARD"}),
        (KIT, {"action": "STOP"}),
        (KIT, {"more": " --disk=name=data,mode=rw"}),
        ("enable-oslogin=TRUE", {}),
    ],
)
def test_a_script_that_may_keep_something_or_is_not_spot_is_not(code, metadata, more):
    """Nor one whose program nobody sees."""
    assert of_script(metadata, code=code, **more) == ""


def test_a_script_whose_code_keeps_something_is_not(code):
    """As with `run`; a tarball is not looked at."""
    (code / "saving.py").write_text("os.environ['SPOTWARDEN_OUTPUT']\n")
    assert of_script(KIT, code=code) == ""
    assert of_script(KIT, code=code / "train.py") == ""
