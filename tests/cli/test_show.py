"""`spotwarden show`: how one job stands, how it came there, what to do next."""

import json

import msgspec
import pytest

from spotwarden import clock
from spotwarden.cli.looking import show as command
from spotwarden.cli.main import main
from spotwarden.layout import (
    AttemptRecord,
    CaseRecord,
    CreateScript,
    Heartbeat,
    JobFileName,
    MetricsFile,
    RunRecord,
)
from spotwarden.model.attempt import AttemptState, Try
from spotwarden.model.finding import Subject, Target
from spotwarden.model.run import RunRequest
from tests.cli.logged import JOB, Speaker
from tests.cli.other_jobs import report_past
from tests.cli.test_cases import case
from tests.fakes.beats import kit_beat


@pytest.fixture
def speaker(monkeypatch) -> Speaker:
    """A job without attempts yet; the command's clock is its cloud's."""
    speaker = Speaker()
    monkeypatch.setattr(clock, "now", speaker.cloud.clock.now)
    monkeypatch.setattr(command, "open_context", lambda: speaker.context)
    return speaker


@pytest.fixture
def run(speaker, capsys):
    """Run `spotwarden show train …` and give its output."""

    def run(*words: str) -> str:
        main(["show", JOB, *words], standalone_mode=False)
        return capsys.readouterr().out

    return run


def said(page: str, word: str) -> list[str]:
    """What stands behind a word of the page."""
    lines = (line.strip().partition(" ") for line in page.splitlines()[1:])
    return [rest.strip() for first, _, rest in lines if first == word]


@pytest.fixture
def running(speaker) -> Speaker:
    """A job that was preempted once and runs: asked for by `spotwarden run`, with heartbeats."""
    asked = RunRequest(
        at=speaker.cloud.clock.now(),
        command=("python", "train.py", "--note", "two words"),
        machine="g2-standard-8",
        gpus="nvidia-l4:1",
        inputs=("gs://b/data/ data",),
        tags={"team": "vision"},
    )
    speaker.put(RunRecord(job=JOB), msgspec.json.encode(asked))
    speaker.attempt(1, owner="ada@example.com")
    speaker.wait(3600)
    now = speaker.cloud.clock.now()
    speaker.attempt(
        2, owner="ada@example.com", zone="us-central1-b", reason="preempted", lost=now, replaces={JOB: "11"}
    )
    speaker.up("21", "us-central1-b")
    lines = [
        {"at": "2026-01-05T09:30:00Z", "step": 100, "metrics": {"loss": 0.5, "acc": 0.7}},
        {"at": "2026-01-05T09:40:00Z", "step": 200, "metrics": {"loss": 0.75, "acc": 0.8}},
    ]
    speaker.put(MetricsFile(job=JOB, node=JOB, attempt=1), "\n".join(map(json.dumps, lines)))
    beat = {"step": 250, "steps": 1000, "checkpoint": "ckpt-2", "metrics": {"loss": "nan"}}
    speaker.put(Heartbeat(job=JOB, node=JOB), json.dumps(beat))
    speaker.wait(1800)
    return speaker


@pytest.mark.usefixtures("running")
def test_a_page_has_what_is_known_of_a_job(run):
    """From its ledger, its heartbeats, its metrics and how it was asked for."""
    page = run()
    assert page.splitlines()[0] == "train: running, 2 attempts"
    assert said(page, "owner") == ["ada@example.com"]
    assert said(page, "tags") == ["team=vision"]
    assert said(page, "command") == ["python train.py --note 'two words'"]
    assert said(page, "input") == ["gs://b/data/ data"]
    assert said(page, "started") == ["2026-01-05 09:00:00 UTC, ran for 1h30m"]
    assert said(page, "up") == ["1h30m on its VMs"]
    assert said(page, "zones") == ["us-central1-a, us-central1-b"]
    assert said(page, "progress") == ["step 250 of 1000 (25%), checkpoint ckpt-2, last seen 30m00s ago"]
    assert said(page, "loss") == ["nan (best 0.5)"]
    assert said(page, "acc") == ["0.8"]
    assert said(page, "next") == ["`spotwarden logs -f train` follows it"]
    assert "2026-01-05 10:00:00 UTC  +   1h00m  attempt 2: preempted" in page


def test_a_job_that_is_alive_and_stands_still_is_shown_so(running, run):
    """That a heartbeat came says that its VM is alive, and nothing of its program."""
    beat = {"step": 250, "at": "2026-01-05T12:00:00Z", "progress_at": "2026-01-05T09:00:00Z"}
    running.put(Heartbeat(job=JOB, node=JOB), json.dumps(beat))
    assert said(run(), "progress") == ["step 250, last progress 3h00m ago, last seen 0s ago"]
    assert json.loads(run("--json"))["moved"] < json.loads(run("--json"))["heard"]


def test_what_stands_beside_a_heartbeat_is_shown(running, run):
    """The job kit's: the listing has it, and no object is read."""
    kit_beat(running.cloud.store, JOB, job=JOB, attempt=1, step=251)
    assert said(run(), "progress")[0].startswith("step 251")


@pytest.mark.usefixtures("running")
def test_the_cost_says_what_it_rests_on(run):
    """The day of the prices stands beside the sum."""
    (cost,) = said(run(), "cost")
    assert cost.startswith("$")
    assert "(prices of 20" in cost


def test_the_cost_of_a_job_that_is_over_ends_with_it(running, run):
    """What was asked for is what it ran on; the hours after its end are nobody's."""
    running.end("0")
    before = said(run(), "cost")
    assert before[0].startswith("$")
    running.cloud.compute.fleet = None
    running.wait(36_000)
    assert said(run(), "cost") == before
    assert said(run(), "up") == ["1h30m on its VMs"]


def test_a_job_whose_prices_nobody_knows_costs_nothing_that_is_said(speaker, run):
    """Neither asked for by us nor there to be looked at."""
    speaker.attempt(1, state=AttemptState.STOPPED)
    assert said(run(), "cost") == []


@pytest.mark.usefixtures("running")
def test_a_job_that_tells_its_steps_has_a_forecast(run):
    """750 steps are left, at 100 in ten minutes; what it costs in all counts what it has cost."""
    page = run()
    assert said(page, "basis")[0].startswith("1.2 h of work left, ")
    (ends,) = said(page, "ends")
    assert ends.count("2026-01-05") == ends.count("$") == 2
    assert "(P50)" in ends
    found = json.loads(run("--json"))["forecast"]
    assert found["half"] <= found["most"]
    assert found["half_cost"] <= found["most_cost"]


def test_a_job_that_tells_none_says_what_would_make_it_known(speaker, run):
    """No end is made up."""
    speaker.attempt(1)
    page = run()
    assert said(page, "forecast") == [
        "unknown: the job reports no progress. Report step and steps, or set work in job.toml"
    ]
    assert said(page, "ends") == []


def test_what_other_jobs_went_through_counts_in_a_forecast(running, run):
    """Its own past only once, whatever the report has of it."""

    def losses():
        return float(said(run(), "basis")[0].split(", ")[1].split()[0])

    machine = "g2-standard-8-nvidia-l4"
    running.attempt(3, machine=machine)
    alone = losses()
    report_past(running, machine, JOB)
    assert losses() == alone
    report_past(running, machine, JOB, "other")
    assert losses() > 1.5 * alone


def test_a_job_that_is_over_has_no_forecast(running, run):
    """Nothing is left of it."""
    running.end("0")
    page = run()
    assert said(page, "ends") == said(page, "forecast") == []
    assert "forecast" not in json.loads(run("--json"))


def test_an_open_case_is_shown_and_where_to_answer_it(running, run):
    """Those about the job and its VMs; no others."""
    subject = Subject(key="21", job=JOB, targets=(Target(id="21", name=JOB, zone="us-central1-b"),))
    mine = msgspec.structs.replace(case(key="21", rule="stall"), subject=subject, reason="nothing moves")
    running.put(CaseRecord(rule="stall", key="21"), msgspec.json.encode(mine))
    running.put(CaseRecord(rule="idle", key="4711"), msgspec.json.encode(case()))
    page = run()
    assert page.startswith("train: stalled")
    (found,) = said(page, "case")
    assert found.startswith("stall: nothing moves, ")
    assert found.endswith("`spotwarden cases show stall 21`")


def test_a_job_with_hardly_anything_on_record_has_a_page_too(speaker, run):
    """What is not known is left out."""
    speaker.put(
        AttemptRecord(job=JOB, attempt=1), msgspec.json.encode(speaker.attempt(1, state=AttemptState.CLAIMED))
    )
    assert run().splitlines()[0] == "train: queued, 1 attempt"
    speaker.put(JobFileName(job=JOB), "max_runtime = 'soon'")
    speaker.put(MetricsFile(job=JOB, node=JOB, attempt=1), b"\x00\xff not json")
    speaker.put(RunRecord(job=JOB), "[]")
    assert "job.toml" in said(run(), "problem")[0]


def test_what_the_bucket_says_steers_no_terminal(speaker, run):
    """Whoever wrote it."""
    refused = (Try(place="us-central1-a", request_id="r", at=speaker.cloud.clock.now(), error="\x1b[2Jno"),)
    speaker.attempt(1, owner="ada\x1b[2J\nroot", tries=refused)
    speaker.put(
        Heartbeat(job=JOB, node=JOB), json.dumps({"checkpoint": "c\r\x1b]0;", "metrics": {"\x1bx": 1}})
    )
    page = run()
    assert not {"\x1b", "\r"} & set(page)
    assert r"ada\x1b[2J\nroot" in page


def test_json_has_all_of_it(running, run):
    """In one object, for programs."""
    del running
    page = json.loads(run("--json"))
    assert (page["job"], page["status"], page["zones"]) == (
        JOB,
        "running",
        ["us-central1-a", "us-central1-b"],
    )
    assert page["progress"]["step"] == 250
    assert [one["name"] for one in page["metrics"]] == ["acc", "loss"]
    assert page["run"]["machine"] == "g2-standard-8"
    assert page["timeline"][0]["what"] == "attempt 1: "


def test_there_is_no_such_job(run):
    """The bucket is named."""
    with pytest.raises(Exception, match="unknown job 'train' in gs://b"):
        run()


def test_a_name_that_no_job_can_have_is_refused(speaker, capsys):
    """With the reason."""
    del speaker
    with pytest.raises(Exception, match="'Train' is not a valid name"):
        main(["show", "Train"], standalone_mode=False)
    capsys.readouterr()


LADDER = """
ladder = [
  { model = "spot", up_to = "2h", max_price = 0.1 },
  { model = "flex", up_to = "1d", max_price = 9 },
  { model = "standard" },
]
machines = ["g2-standard-4"]
"""
SHEET = """
[[sheet]]
date = 2026-11-01
source = "made up"
rows = [
  { machine = "g2-standard-8", region = "us-central1", standard = 1.2, spot = 0.4 },
  { machine = "g2-standard-4", region = "us-central1", standard = 0.7, spot = 0.09 },
]
"""


def test_a_ladder_is_shown_with_its_times_and_prices(speaker, run, tmp_path):
    """And which kind of VM is asked for now; an unknown price is said."""
    sheet = tmp_path / "prices.toml"
    sheet.write_text(SHEET)
    settings = msgspec.structs.replace(speaker.context.settings, prices_file=sheet)
    speaker.context = msgspec.structs.replace(speaker.context, settings=settings)
    script = "gcloud compute instances create train --zone=us-central1-a --machine-type=g2-standard-8\n"
    speaker.put(CreateScript(job=JOB), script)
    speaker.put(JobFileName(job=JOB), LADDER)
    speaker.attempt(1)
    speaker.attempt(2, state=AttemptState.BACKING_OFF, instances={})
    speaker.wait(3600)
    home = "in us-central1-a"
    spot = f"g2-standard-8 $0.40 {home}, not asked, g2-standard-4 $0.090 {home}"
    machines = ("g2-standard-8", "g2-standard-4")
    unknown = [f"{machine} no known price {home}, requested anyway" for machine in machines]
    shown = [
        f"spot for 2h up to $0.10 an hour (now): {spot}",
        f"Flex-start for 1d up to $9.00 an hour: {', '.join(unknown)}",
        f"on-demand: g2-standard-8 $1.20 {home}, g2-standard-4 $0.70 {home}",
    ]
    assert said(run(), "ladder") == shown
    assert json.loads(run("--json"))["ladder"] == shown


def test_a_job_without_a_ladder_shows_none(running, run):
    """Its kind of VM is its script's."""
    assert said(run(), "ladder") == []


@pytest.mark.parametrize(("day", "far"), [(6, "in 15h00m"), (4, "1d09h ago")])
def test_a_deadline_is_said_with_how_far_it_is_from_now(speaker, run, day, far):
    """A forecast alone does not tell whether it can be met."""
    speaker.put(JobFileName(job=JOB), f"deadline = 2026-01-{day:02}T00:00:00Z\n")
    speaker.attempt(1)
    speaker.up("11")
    assert said(run(), "deadline") == [f"2026-01-{day:02} 00:00 UTC, {far}"]
    speaker.end("0")
    assert said(run(), "deadline") == []


def test_a_stop_between_two_attempts_is_said_to_have_a_number(speaker, run):
    """Else two attempts, the second of which is attempt 3, look like one that is missing."""
    speaker.attempt(1, owner="ada@example.com")
    speaker.attempt(2, state=AttemptState.STOPPED, instances={}, tries=(), replaces={JOB: "11"})
    assert run().startswith("train: stopped, 1 attempt\n")
    speaker.attempt(3, replaces={JOB: "11"})
    speaker.up("31")
    said = "train: running, 2 attempts, numbered up to 3 (each stop takes a number, too)\n"
    assert run().startswith(said)
