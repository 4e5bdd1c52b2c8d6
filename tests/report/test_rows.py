"""The row of a job: how it stands, whatever is missing."""

from datetime import timedelta

import msgspec
import pytest

from spotwarden.model.attempt import AttemptState
from spotwarden.model.heartbeat import Beat
from spotwarden.model.jobfile import JobFile
from spotwarden.model.standing import Standing
from spotwarden.report.figures import beats as heard
from spotwarden.report.figures.rows import summary
from spotwarden.report.model.kept import Gathered, KeptUsage, Sources
from tests.report.test_counting import HOUR, L4, MINUTE, NOON, RULES, attempt, gathered, lost

SCRIPT = {"script": "gs://b/train/metadata/create-instance.sh"}


def row(sources, known=None):
    """The row."""
    return summary(sources, known or gathered(), RULES).entry.row


@pytest.mark.parametrize(
    ("said", "standing"),
    [
        ({"status_code": "0", "ended": NOON}, Standing.ENDED),
        ({"status_code": "1", "ended": NOON}, Standing.FAILED),
        ({"ledger": (attempt(),)}, Standing.RUNNING),
        ({"ledger": (attempt(),), "stalled": True}, Standing.STALLED),
        ({"ledger": (attempt(),), "marked": ("train",)}, Standing.RECOVERING),
        ({"ledger": (attempt(state=AttemptState.PLACING, started=None),)}, Standing.QUEUED),
        ({"ledger": (attempt(), lost(NOON, None, state=AttemptState.BACKING_OFF))}, Standing.RECOVERING),
        ({"ledger": (attempt(state=AttemptState.STOPPED),)}, Standing.STOPPED),
        ({"ledger": (attempt(), lost(NOON, None, state=AttemptState.GAVE_UP))}, Standing.GAVE_UP),
        ({"ledger": (attempt(state=AttemptState.ENDED),)}, Standing.ENDED),
        ({"has": SCRIPT}, Standing.UNKNOWN),
        ({"has": SCRIPT, "registrations": {"train": "11"}}, Standing.UNKNOWN),
        ({}, Standing.UNKNOWN),
    ],
)
def test_how_a_job_stands(said, standing):
    """By its end first, then by its newest attempt, then by what else there is."""
    assert row(Sources(job="train", **said)).standing is standing


@pytest.mark.parametrize(("ago", "standing"), [(20, Standing.RUNNING), (21, Standing.UNKNOWN)])
def test_a_job_without_a_ledger_runs_as_long_as_the_meter_sees_it(ago, standing):
    """Seen at most 20 minutes ago."""
    start = RULES.now - timedelta(minutes=ago) - HOUR
    known = Gathered(
        metered={"11": KeptUsage(kind=L4, runs={start.isoformat(): {f"{start:%Y-%m-%d}": 3_600}})}
    )
    assert row(Sources(job="train"), known).standing is standing


def test_a_job_of_which_there_is_nothing_has_a_row():
    """No id, no status, no ledger, no price: what is not known is None."""
    found = row(Sources(job="train"), Gathered())
    assert (found.gpus, found.started, found.ended, found.instances) == (None, None, None, ())


def test_the_row_tells_where_a_job_lived():
    """Zones and ids once each, oldest first; its owner is whom job.toml names."""
    ledger = (attempt(), lost(NOON + HOUR, NOON + 65 * MINUTE))
    found = row(Sources(job="train", ledger=ledger, file=JobFile(owner="grace")))
    assert (found.zones, found.instances, found.owner) == (("us-central1-a",), ("11", "22"), "grace")
    assert (found.attempts, found.preemptions, found.nodes, found.gpus) == (2, 1, 1, 1)


def test_a_job_that_is_over_is_settled():
    """It is looked at once a day from then on; one whose VM may be up is not."""
    over = Sources(job="train", ledger=(attempt(),), status_code="0", ended=NOON)
    assert summary(over, gathered(), RULES).entry.settled
    assert not summary(Sources(job="train", ledger=(attempt(),)), gathered(), RULES).entry.settled


def test_a_row_stays_small_whatever_a_job_says():
    """All jobs share one index: an owner, tags or a checkpoint of a megabyte would end it for all."""
    long = "x" * 100_000
    said = Beat(at=NOON, checkpoint=long, metrics={long: 1.0, "loss": 2.0})
    sources = Sources(
        job="train",
        file=JobFile(owner=long, problem=long),
        beat=said,
        tags={long: long, **{f"tag-{number}": long for number in range(1_000)}},
    )
    known = Gathered(lines=(heard.line("train", 1, [said, said]),))
    entry = summary(sources, known, RULES).entry
    assert len(msgspec.json.encode(entry)) < 20_000
    assert [one.name for one in entry.row.metrics] == ["loss"]


# --- metrics ---


def beat(minute, **said):
    """A heartbeat."""
    return Beat(at=NOON + minute * MINUTE, **said)


def test_a_metric_has_its_last_and_its_best():
    """Less is better of a loss, more of an accuracy; what is no number is no bound."""
    said = [(2.0, 0.1), ("nan", 0.9), (1.0, 0.8), (1.5, 0.7)]
    beats = [beat(at, step=at, metrics={"loss": loss, "acc": acc}) for at, (loss, acc) in enumerate(said)]
    acc, loss = heard.measures(heard.joined([heard.line("train", 1, beats)]), None)
    assert (loss.name, loss.last, loss.best, loss.lowest, loss.highest) == ("loss", 1.5, 1.0, 1.0, 2.0)
    assert (acc.name, acc.last, acc.best) == ("acc", 0.7, 0.9)


@pytest.mark.parametrize(
    ("less", "more"),
    [
        ("val_wer", "answer_accuracy"),
        ("FID", "confidence"),
        ("cer/test", "certainty"),
        ("err1", "recovered"),
        ("train.loss", "map50"),
        ("cross_entropy", "bleu"),
    ],
)
def test_less_is_better_only_of_what_is_called_so(less, more):
    """An abbreviation within a longer word is none."""
    beats = [beat(at, metrics={less: float(at), more: float(at)}) for at in (1, 2)]
    curves = heard.joined([heard.line("train", 1, beats)])
    found = {one.name: one.best for one in heard.measures(curves, None)}
    assert found == {less: 1.0, more: 2.0}


def test_a_metric_that_is_never_a_number_has_no_best():
    """Its last is told as it is."""
    (loss,) = heard.measures(heard.joined([heard.line("train", 1, [beat(0, metrics={"loss": "nan"})])]), None)
    assert (loss.last, loss.best) == ("nan", None)


def test_a_long_curve_is_thinned_and_keeps_its_extremes():
    """Ten thousand points with one peak, one trough and one that is no number."""
    beats = [beat(at, metrics={"loss": 1.0}) for at in range(10_000)]
    for at, value in ((1_234, 99.0), (5_678, -99.0), (7_777, "nan")):
        beats[at] = beat(at, metrics={"loss": value})
    (curve,) = heard.line("train", 1, beats).curves
    assert len(curve.points) <= heard.POINTS
    assert {99.0, -99.0, "nan"} <= {point.value for point in curve.points}
    assert (curve.points[0].at, curve.points[-1].at) == (beats[0].at, beats[-1].at)


def test_a_checkpoint_counts_when_it_is_first_heard_of():
    """The one that a restart began with is none of its own; of a first attempt it is."""
    beats = [beat(0, checkpoint="a"), beat(1, checkpoint="a"), beat(2, checkpoint="b")]
    assert [name for _, name in heard.line("train", 2, beats).saved] == ["b"]
    assert [name for _, name in heard.line("train", 1, beats).saved] == ["a", "b"]
