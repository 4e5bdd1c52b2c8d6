"""`spotwarden jobs`: every job once, those that are wanted, in the order that is wanted, at little cost."""

import json
from os import terminal_size

import msgspec
import pytest

from spotwarden import clock
from spotwarden.cli.looking import jobs as command
from spotwarden.cli.main import main
from spotwarden.layout import AttemptRecord, CaseRecord, CreateScript
from spotwarden.model.case import CaseState
from spotwarden.model.finding import Subject, Target
from tests.cli.logged import Speaker, four_jobs
from tests.cli.test_cases import case


@pytest.fixture
def speaker(monkeypatch) -> Speaker:
    """A bucket with no job yet; the command's clock is its cloud's."""
    speaker = Speaker()
    monkeypatch.setattr(clock, "now", speaker.cloud.clock.now)
    monkeypatch.setattr(command, "open_context", lambda: speaker.context)
    return speaker


@pytest.fixture
def run(speaker, capsys):
    """Run `spotwarden jobs …` and give its output, line by line."""

    def run(*words: str) -> list[str]:
        main(["jobs", *words], standalone_mode=False)
        return capsys.readouterr().out.splitlines()

    return run


@pytest.fixture
def four(speaker) -> Speaker:
    """Four jobs: one runs, one recovers, one failed, one ended."""
    four_jobs(speaker)
    return speaker


def names(lines: list[str]) -> list[str]:
    """The jobs of a table."""
    return [line.split()[0] for line in lines[1:]]


def test_no_job_is_said_to_be_none(run):
    """The bucket is named."""
    first, second = run()
    assert first == "no jobs yet in gs://b. To run your code on a spot VM:"
    assert second.strip().startswith("spotwarden run --job my-job ")
    assert json.loads("".join(run("--json"))) == []


def test_a_pattern_that_no_job_fits_does_not_say_that_there_is_none(four, run):
    """Other jobs are not even read, so nothing is said about them."""
    assert run("nowhere-*") == ["no job in gs://b matches nowhere-*"]


def test_every_job_has_a_row(four, run):
    """By name, with what a person looks for first."""
    head, *rows = run()
    assert head.split()[:3] == ["JOB", "STATUS", "ATTEMPTS"]
    assert [row.split()[:2] for row in rows] == [
        ["exp-a", "running"],
        ["exp-b", "recovering"],
        ["other-c", "failed"],
        ["other-d", "ended"],
    ]
    assert "failed (2)" in rows[2]
    assert rows[0].endswith("gs://b/exp-a/my-code.tar")
    four.put(CreateScript(job="stored"), "gcloud compute instances create stored")
    assert names(run("stored")) == ["stored"]


def test_a_late_status_of_an_attempt_before_ends_no_row(four, run):
    """The job goes on, whatever a VM of attempt 1 writes."""
    for said, status in (("1", "recovering"), ("2", "failed")):
        four.cloud.store.put("exp-b/metadata/status-code", b"1", {"attempt": said})
        assert run("exp-b")[1].split()[1] == status


def test_a_folder_that_is_no_job_has_no_row(four, run):
    """Neither ours, nor one that holds something else."""
    four.cloud.store.write("preempted-jobs/vm", b"", generation=None)
    four.cloud.store.write("datasets/x.csv", b"", generation=None)
    assert len(run()) == 5


@pytest.mark.usefixtures("four")
@pytest.mark.parametrize(
    ("words", "jobs"),
    [
        (("--status", "running"), ["exp-a"]),
        (("--status", "running", "--status", "failed"), ["exp-a", "other-c"]),
        (("--owner", "ADA"), ["exp-a", "other-c"]),
        (("--tag", "team"), ["exp-a", "exp-b"]),
        (("--tag", "team=vision"), ["exp-a"]),
        (("--tag", "team", "--tag", "try=1"), ["exp-a"]),
        (("exp-*",), ["exp-a", "exp-b"]),
        (("exp-a", "other-d"), ["exp-a", "other-d"]),
        (("--sort", "started"), ["other-d", "other-c", "exp-b", "exp-a"]),
        (("--sort", "started", "--reverse"), ["exp-a", "exp-b", "other-c", "other-d"]),
        (("--sort", "runtime"), ["exp-a", "exp-b", "other-c", "other-d"]),
        (("--sort", "attempts"), ["exp-b", "exp-a", "other-c", "other-d"]),
        (("--sort", "status"), ["other-d", "other-c", "exp-b", "exp-a"]),
        (("--sort", "owner"), ["exp-a", "other-c", "exp-b", "other-d"]),
        (("--sort", "started", "--limit", "2"), ["other-d", "other-c"]),
    ],
)
def test_rows_are_chosen_and_ordered(run, words, jobs):
    """Jobs that are alike stand by name."""
    assert names(run(*words)) == jobs
    assert [row["job"] for row in json.loads("".join(run("--json", *words)))] == jobs


def test_what_has_run_since_a_moment(four, run):
    """What runs yet counts; what ended counts by its end, the moment itself included."""
    four.wait(60)
    assert names(run("--since", "1m")) == ["exp-a", "exp-b", "other-c", "other-d"]
    four.wait(1)
    assert names(run("--since", "1m")) == ["exp-a", "exp-b"]


@pytest.mark.usefixtures("four")
def test_nothing_that_was_asked_for_is_said_to_be_none(run):
    """With how many there are."""
    assert run("--owner", "nobody") == ["none of the 4 jobs match these options"]


def test_a_job_that_governance_found_stalled_says_so(four, run):
    """By the case of its VM."""
    subject = Subject(key="11", targets=(Target(id="11", name="exp-a", zone="us-central1-a"),))
    stall = msgspec.structs.replace(case(key="11", rule="stall"), subject=subject)
    four.put(CaseRecord(rule="stall", key="11"), msgspec.json.encode(stall))
    assert names(run("--status", "stalled")) == ["exp-a"]


@pytest.mark.parametrize("state", [CaseState.SUSPECTED, CaseState.UNKNOWN])
def test_a_job_that_is_only_suspected_runs(four, run, state):
    """Or of which nothing is known: the report says so, too."""
    subject = Subject(key="11", targets=(Target(id="11", name="exp-a", zone="us-central1-a"),))
    stall = msgspec.structs.replace(case(key="11", rule="stall"), subject=subject, state=state)
    four.put(CaseRecord(rule="stall", key="11"), msgspec.json.encode(stall))
    assert names(run("--status", "running")) == ["exp-a"]


@pytest.mark.usefixtures("four")
def test_json_has_what_the_table_has(run):
    """Moments and spans as programs read them."""
    row = json.loads("".join(run("exp-a", "--json")))[0]
    assert (row["status"], row["attempts"], row["instance_id"]) == ("running", 1, "11")
    assert row["tags"] == {"team": "vision", "try": "1"}
    assert row["started"] == "2026-01-05T09:00:00Z"
    assert row["ended"] is None


def test_what_cannot_be_read_hides_no_other(four, run, capsys):
    """It is named, and the command fails."""
    four.put(AttemptRecord(job="exp-b", attempt=1), "{")
    with pytest.raises(Exception, match=r"exp-b/metadata/attempts/1\.json"):
        run()
    assert names(capsys.readouterr().out.splitlines()) == ["exp-a", "other-c", "other-d"]


def test_a_row_costs_few_reads(four, run):
    """One listing, the first and the newest attempt, the end: however many attempts there were."""
    for number in range(2, 30):
        four.attempt(number, job="exp-a", instances={"exp-a": "11"})
    reads = []
    read = four.cloud.store.read
    four.cloud.store.read = lambda name, **more: reads.append(name) or read(name, **more)
    run("exp-a")
    assert sorted(reads) == [
        "exp-a/metadata/attempts/1.json",
        "exp-a/metadata/attempts/28.json",
        "exp-a/metadata/attempts/29.json",
        "exp-a/metadata/run.json",
    ]


def test_a_name_that_does_not_fit_is_not_even_listed(four, run):
    """A pattern saves the reading, too."""
    listed = []
    entries = four.cloud.store.entries
    four.cloud.store.entries = lambda prefix, **more: listed.append(prefix) or entries(prefix, **more)
    run("exp-a")
    assert [one for one in listed if one.endswith("/metadata/")] == ["exp-a/metadata/"]


def watching(speaker, run, monkeypatch, *happenings) -> list[str]:
    """What `--watch` prints while things happen to the jobs, and then Ctrl-C."""
    left = list(happenings)

    def sleep(_seconds: float) -> None:
        if not left:
            raise KeyboardInterrupt
        speaker.wait(5)
        left.pop(0)()

    monkeypatch.setattr(command.time, "sleep", sleep)
    return run("--watch")


def test_watching_in_a_pipe_prints_what_changes(four, run, monkeypatch):
    """Each row once, and again when anything but its runtime is new; a moment stands before it."""
    out = watching(four, run, monkeypatch, lambda: None, lambda: four.end("0", "exp-a"), lambda: None)
    assert [line.split("  ")[1:3] for line in out] == [
        ["exp-a", "running"],
        ["exp-b", "recovering"],
        ["other-c", "failed (2)"],
        ["other-d", "ended"],
        ["exp-a", "ended"],
    ]
    assert out[4].startswith("2026-01-05 09:03:10  ")


def test_watching_reads_again_only_what_has_changed(four, run, monkeypatch):
    """A look at 10,000 jobs would be thousands of reads otherwise."""
    reads = []
    read = four.cloud.store.read
    four.cloud.store.read = lambda name, **more: reads.append(name) or read(name, **more)
    watching(four, run, monkeypatch, lambda: None, lambda: None)
    assert reads.count("exp-a/metadata/attempts/1.json") == 1
    assert reads.count("other-c/metadata/status-code") == 1


def test_watching_on_a_terminal_draws_the_table_in_its_place(four, run, monkeypatch):
    """As much of it as there is room for."""
    monkeypatch.setattr(command.sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(command.shutil, "get_terminal_size", lambda: terminal_size((80, 5)))
    said = "\n".join(watching(four, run, monkeypatch))
    assert "exp-b" in said
    assert "other-d" not in said
    assert "and 2 more" in said


def test_watching_and_one_list_are_two_things(run):
    """JSON is one list."""
    with pytest.raises(Exception, match="--json prints one list"):
        run("--watch", "--json")
