"""What `spotwarden run` does not take, and what it says instead of trying."""

from pathlib import Path

import pytest

from spotwarden.layout import AttemptRecord, StatusCode

PLAIN = ("--job", "job", "--machine", "e2-small", "--zone", "us-central1-a")
COMMAND = ("--", "python", "train.py")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """A folder with some files, in which the commands are typed."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x").mkdir()
    (tmp_path / "y/x").mkdir(parents=True)
    (tmp_path / "two words").write_text("1")
    (tmp_path / "rules.toml").write_text('owner = "bob"\n')
    (tmp_path / "wrong.toml").write_text('[rules.idle]\nact = "soon"\n')
    return tmp_path


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--machine", "e2-small"], "Missing option '--job'"),
        (["--job", "Job", *PLAIN[2:]], "--job: 'Job' is not a valid name"),
        (["--job", "spotwarden", *PLAIN[2:]], "reserved"),
        (["--job", "j" * 62, *PLAIN[2:], "--nodes", "2"], "its VMs would be named"),
        ([*PLAIN, "--region", "us-central1"], "use --zone or --region, not both"),
        ([*PLAIN, "--nodes", "0"], "--nodes"),
        ([*PLAIN, "--nodes", "1000"], "--nodes"),
        ([*PLAIN, "--nodes", "16:8"], "a range such as 8:16"),
        ([*PLAIN, "--nodes", "8:8"], "a range such as 8:16"),
        ([*PLAIN[:-2], "--region", "us-central1", "--nodes", "2:4"], "needs --zone"),
        ([*PLAIN, "--image", "a", "--image-family", "b"], "use --image or --image-family, not both"),
        ([*PLAIN, "--image-project", "b"], "--image-project needs --image"),
        ([*PLAIN, "--container-flags", "b"], "--container-flags needs --container"),
        ([*PLAIN, "--code", "nowhere"], "nowhere"),
        ([*PLAIN, "--env", "SPOTWARDEN_TEST_UNSET"], "it isn't set here; write SPOTWARDEN_TEST_UNSET=VALUE"),
        ([*PLAIN, "--env", "a-b=1"], "'a-b' is not a valid variable name"),
        ([*PLAIN, "--env", "=1"], "write it as NAME=VALUE"),
        ([*PLAIN, "--env", "A=1\n2"], "must be one line"),
        ([*PLAIN, "--env", "A=" + "x" * 262_142], "spotwarden-env would be 262145 bytes"),
        (
            [*PLAIN, "--env", "A=" + "x" * 250_000, "--setup", "x" * 250_000],
            "are too many for the VM's metadata",
        ),
        ([*PLAIN, "--tag", "team"], "write it as NAME=VALUE"),
        ([*PLAIN, "--tag", "Team=x"], "a tag is a VM label"),
        ([*PLAIN, "--tag", "team=X"], "a tag is a VM label"),
        ([*PLAIN, "--tag", "t=" + "x" * 64], "at most 63"),
        ([*PLAIN, "--tag", "spotwarden-job=x"], "are taken"),
        ([*PLAIN, *(f"--tag=t{n}=x" for n in range(61))], "61 tags are more than 60"),
        ([*PLAIN, "--metric", "loss"], "write it as NAME=VALUE"),
        ([*PLAIN, "--metric", "a b=(x)"], "a metric's name"),
        (
            [*PLAIN, "--flag=--metadata-from-file=a=b"],
            "would replace the job kit's own",
        ),
        ([*PLAIN, "--metric", "loss=[0-9.]+"], "write the number as a group, such as loss=([^ ,]+)"),
        ([*PLAIN, "--metric", "loss=(?:[0-9])(x)"], "no (?…)"),
        ([*PLAIN, "--metric", "loss=("], "is not a valid pattern"),
        ([*PLAIN, "--max-runtime", "12"], "write 30m, 8h"),
        ([*PLAIN, "--deadline", "soon"], "is not a valid date or time"),
        ([*PLAIN, "--budget", "0"], "--budget"),
        ([*PLAIN, "--budget", "nan"], "--budget"),
        ([*PLAIN, "--budget", "inf"], "--budget"),
        ([*PLAIN, "--budget", "1e16"], "--budget"),
        ([*PLAIN, "--disk-gb", "9"], "--disk-gb"),
        ([*PLAIN, "--handover", "--on-demand"], "--handover is for spot VMs: leave out --on-demand"),
        (
            [*PLAIN, "--input", "nowhere"],
            "there is no such file or folder here, and it is not a gs:// address",
        ),
        ([*PLAIN, "--input", "gs://x"], "is not a valid address; write gs://BUCKET/NAME"),
        ([*PLAIN, "--input", "gs://data/a b"], "without spaces"),
        ([*PLAIN, "--input", "two words"], "choose one: --input NAME=PATH"),
        ([*PLAIN, "--input", "x", "--input", "y/x"], "two inputs would be named 'x'"),
        ([*PLAIN, "--input-job", "x", "--input", "x"], "two inputs would be named 'x'"),
        ([*PLAIN, "--input-job", "../x"], "--input-job: '../x' is not"),
        ([*PLAIN, "--job-toml", "nowhere"], "nowhere"),
        ([*PLAIN, "--job-toml", "x"], "x cannot be read"),
        ([*PLAIN, "--job-toml", "two words"], "two words is invalid"),
        ([*PLAIN, "--job-toml", "rules.toml", "--owner", "ada"], "with what the options say, is invalid"),
        ([*PLAIN, "--job-toml", "wrong.toml"], "rules.idle.act"),
        ([*PLAIN, "--wibble"], "No such option"),
    ],
)
def test_a_mistake_is_told_and_nothing_is_written(workstation, here, words, says):
    """Exit status 2, the option, and what to say instead."""
    done = workstation.run("run", *words, *COMMAND)
    assert done.exit_code == 2, done.output
    assert says in " ".join(done.output.split())
    assert not (here / ".spotwarden").exists()
    assert workstation.store.entries("") == []


def test_the_longest_name_of_a_gang_is_taken(workstation):
    """One character less than is refused."""
    workstation.ok("run", "--job", "j" * 61, *PLAIN[2:], "--nodes", "2", "--script-only", *COMMAND)
    assert "--count=2" in Path(f".spotwarden/{'j' * 61}/create-instance.sh").read_text()


def test_a_value_of_the_longest_size_is_taken(workstation):
    """One byte more is refused: 262,144 with the end of the line."""
    workstation.ok("run", *PLAIN, "--env", "A=" + "x" * 262_141, "--script-only", *COMMAND)
    written = [file.stat().st_size for file in Path(".spotwarden/job").iterdir()]
    assert max(written) == 262_144


def test_a_zone_of_the_shell_counts_where_none_is_said(workstation, monkeypatch):
    """Neither beside a zone nor beside a region."""
    monkeypatch.setenv("SPOTWARDEN_ZONE", "us-west1-b")
    without = ("run", "--job", "job", "--machine", "e2-small", "--dry-run")
    assert "--zone=us-west1-b" in workstation.ok(*without, *COMMAND)
    assert "--zone=us-west1-a" in workstation.ok(*without, "--zone", "us-west1-a", *COMMAND)
    said = workstation.ok(*without, "--region", "us-central1", *COMMAND)
    assert "--region=us-central1" in said
    assert "--zone" not in said


def test_sixty_tags_are_taken(workstation):
    """One less than is refused."""
    workstation.ok("run", *PLAIN, *(f"--tag=t{n}=x" for n in range(60)), "--script-only", *COMMAND)
    script = Path(".spotwarden/job/create-instance.sh").read_text()
    assert [f"t{n}=x" in script for n in range(60)] == [True] * 60


def test_a_command_is_needed(workstation):
    """There is nothing to run otherwise."""
    assert "Add it after --, such as: -- python train.py" in workstation.refused("run", *PLAIN)


def test_a_flag_that_gcloud_does_not_know_is_refused_by_the_scripts_reader(workstation):
    """As for a script that was written by hand, with the line; the folder is there to be mended."""
    said = workstation.refused("run", *PLAIN, "--flag=--wibble", *COMMAND)
    assert "create-instance.sh:" in said
    assert "--resolve" not in said
    assert "--wibble" in said
    assert workstation.store.entries("") == []


def test_a_script_that_was_edited_is_not_written_over(workstation, here):
    """The message says how to launch it, and nothing has been sent."""
    workstation.ok("run", *PLAIN, "--script-only", *COMMAND)
    script = here / ".spotwarden/job/create-instance.sh"
    script.write_text(script.read_text() + "# mine\n")
    said = workstation.refused("run", *PLAIN, *COMMAND)
    assert "you have edited create-instance.sh" in said
    assert "spotwarden submit .spotwarden/job/create-instance.sh --job job" in said
    assert workstation.store.entries("") == []
    workstation.ok("run", *PLAIN, "--script-only", "--overwrite", *COMMAND)
    assert "# mine" not in script.read_text()


def test_a_policy_that_does_not_admit_it_is_heard_before_anything_is_sent(workstation, tmp_path):
    """With every reason, as for `submit`."""
    (tmp_path / "policy.toml").write_text('version = "1"\n[admission]\nmachine_types = ["g2-*"]\n')
    assert "'e2-small' is not among g2-*" in workstation.refused("run", *PLAIN, *COMMAND)
    assert workstation.store.entries("") == []


@pytest.mark.parametrize("mode", ["enforce", "observe"])
def test_a_machine_type_for_which_the_policy_would_stop_the_job_is_refused(workstation, tmp_path, mode):
    """The script's, and one that the job may have instead; unless the policy only observes."""
    limits = '[compliance]\nmachine_types = ["g2-*"]\nremedy = "stop"\n'
    (tmp_path / "policy.toml").write_text(f'version = "1"\nmode = "{mode}"\n{limits}')
    other = ("--machine", "g2-standard-8", "--or-machine", "a2-highgpu-1g")
    for words, machine in ((PLAIN, ""), ((*PLAIN, *other), " on a2-highgpu-1g")):
        said = workstation.refused("run", *words, *COMMAND)
        assert (f"can't launch it{machine}: " in said) is (mode == "enforce")
        assert ("VMs of other types are stopped" in said) is (mode == "enforce")
    assert workstation.store.entries("") == []


def test_a_job_that_has_ended_is_not_run_again_by_mistake(workstation, here):
    """--again is what it takes; the script of the first time stays as it was."""
    workstation.store.write(workstation.layout.build(StatusCode(job="job")), b"0\n", generation=0)
    assert "To launch it again and keep its output, add --again" in workstation.refused(
        "run", *PLAIN, *COMMAND
    )
    assert not (here / ".spotwarden").exists()


@pytest.mark.parametrize(
    ("status", "says"),
    [
        (None, "unknown job 'other'. To list jobs: spotwarden jobs"),
        (b"3\n", "other ended with status 3; --input gs://{bucket}/other/output/ takes what there is"),
    ],
    ids=["none", "failed"],
)
def test_another_job_must_have_put_out_all_that_is_to_be_used(workstation, status, says):
    """One that is not there, and one that failed, are refused with a way on."""
    if status is not None:
        workstation.store.write(workstation.layout.build(StatusCode(job="other")), status, generation=0)
    said = workstation.refused("run", *PLAIN, "--input-job", "other", *COMMAND)
    assert says.format(bucket=workstation.bucket) in " ".join(said.split())


def test_another_job_that_still_runs_is_waited_for_where_that_is_said(workstation, monkeypatch):
    """Without --wait it is refused."""
    record = workstation.layout.build(AttemptRecord(job="other", attempt=1))
    workstation.store.write(record, RUNNING, generation=0)
    assert "other hasn't ended. To wait for it, add --wait" in workstation.refused(
        "run", *PLAIN, "--input-job", "other", *COMMAND
    )
    ended = workstation.layout.build(StatusCode(job="other"))
    waits: list[float] = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        workstation.store.write(ended, b"1", generation=0)

    monkeypatch.setattr("spotwarden.cli.launching.run.time.sleep", wait)
    said = workstation.refused("run", *PLAIN, "--input-job", "other", "--wait", *COMMAND)
    assert "waiting for other to end" in said
    assert "other ended with status 1" in said
    assert len(waits) == 1


RUNNING = b"""{"job": "other", "number": 1, "state": "running", "created": "2026-01-01T00:00:00Z",
 "updated": "2026-01-01T00:00:00Z", "reason": "submitted", "instances": {"other": "17"}, "owner": "ada"}"""
