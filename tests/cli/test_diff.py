"""`spotwarden diff`: what makes two experiments differ, and what came of each."""

import json

import click
import msgspec
import pytest

from spotwarden import clock
from spotwarden.cli.looking import diff as command
from spotwarden.cli.looking.sparks import PLAIN, sparks
from spotwarden.cli.main import main
from spotwarden.cli.table import coloured
from spotwarden.layout import Code, CreateScript, JobFileName, MetricsFile, RunRecord
from spotwarden.model.run import RunRequest
from spotwarden.report.model.job import CurvePoint
from tests.cli.logged import Speaker

SCRIPT = "gcloud compute instances create {job} --zone=us-central1-a\n# {job}-1 train.py\n"


@pytest.fixture
def speaker(monkeypatch) -> Speaker:
    """Two jobs that were asked for and went in the very same way: exp-1 and exp-2."""
    speaker = Speaker()
    monkeypatch.setattr(clock, "now", speaker.cloud.clock.now)
    monkeypatch.setattr(command, "open_context", lambda: speaker.context)
    for job in ("exp-1", "exp-2"):
        speaker.attempt(1, job=job)
        speaker.put(CreateScript(job=job), SCRIPT.format(job=job))
        speaker.put(Code(job=job), "code")
        asked(speaker, job)
        speaker.put(JobFileName(job=job), 'max_runtime = "2h"\n')
        measured(speaker, job, 1.0, 0.5, 0.25)
        speaker.wait(60)
    return speaker


def asked(speaker, job, **more) -> None:
    """Say how `spotwarden run` was asked for a job."""
    fields = {
        "command": ("python", "train.py"),
        "machine": "g2-standard-8",
        "inputs": (f"gs://b/{job}/input/data/ data",),
        **more,
    }
    speaker.put(
        RunRecord(job=job), msgspec.json.encode(RunRequest(at=speaker.cloud.clock.now(), by=job, **fields))
    )


def measured(speaker, job, *losses, name="loss") -> None:
    """Say what a job's heartbeats have measured."""
    lines = [
        {"at": f"2026-01-05T09:{step:02}:00Z", "step": step, "metrics": {name: loss}}
        for step, loss in enumerate(losses)
    ]
    speaker.put(MetricsFile(job=job, node=job, attempt=1), "\n".join(map(json.dumps, lines)))


@pytest.fixture
def run(speaker, capsys):
    """Run `spotwarden diff exp-1 exp-2 …` and give its exit status and its output."""

    def run(*words: str) -> tuple[int, str]:
        status = main(["diff", *(words or ("exp-1", "exp-2"))], standalone_mode=False)
        return status or 0, capsys.readouterr().out

    return run


def test_two_that_are_the_same_do_not_differ_by_their_names(run):
    """Nor by when and by whom they were launched."""
    status, page = run()
    assert status == 0
    assert page.rstrip().endswith("no difference")
    assert "SETTING" not in page


def test_a_script_is_shown_as_diff_shows_it(speaker, run):
    """Only the lines that differ, with the first job's name in them."""
    speaker.put(
        CreateScript(job="exp-2"), SCRIPT.format(job="exp-2").replace("us-central1-a", "us-central1-b")
    )
    status, page = run()
    assert status == 1
    assert "--- exp-1\n+++ exp-2\n" in page
    assert "-gcloud compute instances create exp-1 --zone=us-central1-a\n" in page
    assert "+gcloud compute instances create exp-1 --zone=us-central1-b\n" in page
    assert "\n # exp-1-1 train.py\n" in page


def test_a_name_that_stands_in_a_line_by_chance_is_no_difference(speaker, run):
    """A job called train runs train.py, and so does the other."""
    for job in ("train", "exp-3"):
        speaker.attempt(1, job=job)
        speaker.put(CreateScript(job=job), "python train.py\n")
    assert run("train", "exp-3")[0] == 0
    assert run("exp-3", "train")[0] == 0


@pytest.mark.parametrize(
    ("change", "row"),
    [
        (
            {"command": ("python", "train.py", "--lr", "1e-4")},
            "command python train.py python train.py --lr 1e-4",
        ),
        ({"machine": "a2-highgpu-1g"}, "machine g2-standard-8 a2-highgpu-1g"),
        ({"nodes": 2}, "nodes 1 2"),
        ({"spot": False}, "spot true false"),
        ({"tags": {"team": "vision"}}, "tags - team=vision"),
    ],
)
def test_a_setting_that_differs_is_shown_for_both(speaker, run, change, row):
    """And those that do not are not."""
    asked(speaker, "exp-2", **change)
    status, page = run()
    assert status == 1
    settings = page.split("\n\n")[1].splitlines()
    assert settings[0].split() == ["SETTING", "exp-1", "exp-2"]
    assert [" ".join(line.split()) for line in settings[1:]] == [row]


def test_limits_and_code_are_settings(speaker, run):
    """The code by its checksum: what is in it is for other tools to tell."""
    speaker.put(JobFileName(job="exp-2"), 'max_runtime = "3h"\n')
    speaker.put(Code(job="exp-2"), "other code")
    _, page = run()
    names = [line.split()[0] for line in page.split("\n\n")[1].splitlines()[1:]]
    assert set(names) == {"code", "job.toml"}


def test_metrics_stand_below_each_other_with_their_curves(speaker, run):
    """On the same axes, so that the eye can tell the better one."""
    measured(speaker, "exp-2", 1.0, 0.25, 0.0)
    status, page = run()
    assert status == 1
    head, one, other = page.split("\n\n")[-1].rstrip("\n").splitlines()
    assert head.split() == ["METRIC", "JOB", "LAST", "BEST", "VALUES", "CURVE"]
    assert one.split()[:5] == ["loss", "exp-1", "0.25", "0.25", "3"]
    assert other.split()[1:5] == ["exp-2", "0", "0", "3"]
    assert one.split()[5:] != other.split()[5:]


def test_a_metric_that_only_one_has_is_a_difference(speaker, run):
    """The other's row is empty."""
    measured(speaker, "exp-2", 1.0, 0.5, 0.25, name="acc")
    status, page = run()
    assert status == 1
    rows = page.split("\n\n")[-1].splitlines()[1:]
    assert [row.split()[2] for row in rows] == ["-", "0.25", "0.25", "-"]


def test_how_often_somebody_looked_is_no_difference(speaker, run):
    """Heartbeats come by the clock, not by the step."""
    measured(speaker, "exp-2", 1.0, 0.75, 0.5, 0.25)
    assert run()[0] == 0


def test_how_they_went_is_shown_and_is_no_difference(speaker, run):
    """No two jobs take the same time."""
    speaker.end("0", "exp-1")
    speaker.end("1", "exp-2")
    status, page = run()
    assert status == 0
    assert "ended" in page
    assert "failed (1)" in page


def test_json_has_all_of_it(speaker, run):
    """In one object, for programs."""
    asked(speaker, "exp-2", nodes=2)
    status, page = run("exp-1", "exp-2", "--json")
    found = json.loads(page)
    assert (status, found["same"]) == (1, False)
    assert found["settings"] == {"nodes": ["1", "2"]}
    assert found["metrics"][0]["name"] == "loss"
    assert [one["job"] for one in found["jobs"]] == ["exp-1", "exp-2"]


def test_trouble_is_neither_same_nor_different(run):
    """Its exit status is diff's own for trouble."""
    with pytest.raises(click.ClickException, match="unknown job 'exp-9'") as caught:
        run("exp-1", "exp-9")
    assert caught.value.exit_code == 2


def test_what_a_script_says_steers_no_terminal(speaker, run):
    """It may be anybody's."""
    speaker.put(CreateScript(job="exp-2"), "echo \x1b[2J\n")
    assert "\x1b" not in run()[1]


def curve(*values, first=0, every=1):
    """Points at steps."""
    return [
        CurvePoint(at=clock.now(), step=float(first + place * every), value=value)
        for place, value in enumerate(values)
    ]


@pytest.mark.parametrize(
    ("curves", "lines"),
    [
        ([curve(0, 1, 2, 3)], ["_-+#"]),
        ([curve(1, 1, 1, 1)], ["++++"]),
        ([curve(0, "nan", 2, "inf")], ["_!#!"]),
        ([curve(0, 1, 2, 3), curve(3)], ["_-+#", "#"]),
        ([curve(0, 3), curve(0, 3, every=3)], ["_#", "_  #"]),
        ([curve(), curve(1)], ["", "+"]),
        ([[]], [""]),
    ],
)
def test_curves_share_their_axes(curves, lines):
    """Steps to the right, values by height; what is no number is seen."""
    assert sparks(*curves, bars="_-+#", width=4) == lines
    assert len(PLAIN) == 8


def test_colours_are_left_out_where_nobody_wants_them(monkeypatch):
    """As no-color.org has it."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert coloured("x", "red") == "\x1b[31mx\x1b[0m"
    assert coloured("x", "") == "x"
    monkeypatch.setenv("NO_COLOR", "1")
    assert coloured("x", "red") == "x"
