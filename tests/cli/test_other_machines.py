"""`run --or-machine`, and `machines` of a stored job.toml: what can't be is refused first."""

import click
import pytest

from spotwarden.cli.launching.other_machines import check_others
from spotwarden.create_script.request.stored import launch_of
from spotwarden.layout import JobFileName
from spotwarden.model.jobfile import JobFile
from spotwarden.model.launch import StoredScript
from tests.cli.logged import Speaker

RUN = ("run", "--job", "job", "--zone", "us-central1-a", "--no-follow", "--machine", "g2-standard-8")
COMMAND = ("--", "true")
SCRIPT = "gcloud compute instances create job --zone=us-central1-a --machine-type=g2-standard-8\n"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """A folder of one's own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_run_writes_them_into_job_toml_in_their_order(workstation):
    """One option for each."""
    words = ("--or-machine", "a2-highgpu-1g", "--or-machine", "g2-standard-12", "--dry-run")
    assert 'machines = ["a2-highgpu-1g", "g2-standard-12"]' in workstation.ok(
        "run", *RUN[1:], *words, *COMMAND
    )


@pytest.mark.parametrize(
    ("machine", "why"),
    [
        ("n2-standard-8", "n2-standard-8 comes without GPUs"),
        ("g2-standard-8", "is the machine type of the create script already"),
        ("ct6e-standard-4t", "has TPUs"),
    ],
)
def test_run_refuses_a_machine_that_the_job_cannot_run_on(workstation, machine, why):
    """With the reason; nothing is stored."""
    said = workstation.refused(*RUN, "--or-machine", machine, *COMMAND)
    assert f"can't launch it on {machine}: " in said
    assert why in said
    assert workstation.store.entries("") == []


def test_submit_refuses_those_of_a_stored_job_toml(workstation, here):
    """As many as there are."""
    script = here / "create-instance.sh"
    script.write_text(SCRIPT)
    name = workstation.layout.build(JobFileName(job="job"))
    workstation.store.write(name, b'machines = ["c4a-standard-8"]\n', generation=None)
    said = workstation.refused("submit", str(script))
    assert "comes without GPUs" in said
    assert "needs an image for Arm" in said
    many = ", ".join(f'"g2-standard-{size}"' for size in range(9))
    workstation.store.write(name, f"machines = [{many}]\n".encode(), generation=None)
    assert "9 other machine types are more than 8" in workstation.refused("submit", str(script))


@pytest.fixture
def launch():
    """What the script launches."""
    return launch_of(StoredScript(name="s.sh", text=SCRIPT.encode(), generation=1), "p")


@pytest.fixture
def context():
    """A command beside a Compute Engine that has one zone with one of the machines, and none of the other."""
    speaker = Speaker()
    speaker.cloud.compute.offer("a2-highgpu-1g", ["us-central1-b"])
    speaker.cloud.compute.offer("a2-highgpu-2g", [])
    return speaker.context


def test_a_machine_that_no_zone_has_is_refused(context, launch):
    """A mistyped one; where it is does not matter here."""
    check_others(context, launch, JobFile(machines=("a2-highgpu-1g",)))
    with pytest.raises(click.UsageError, match="unknown machine type 'a2-highgpu-2g'"):
        check_others(context, launch, JobFile(machines=("a2-highgpu-2g",)))
