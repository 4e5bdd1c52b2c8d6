"""The report as JSON: one shape with a schema, in which what nobody knows is null."""

import json
from datetime import timedelta
from typing import Annotated

import jsonschema
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from spotwarden.model.standing import Standing
from spotwarden.report.export import as_both, as_csv, as_json
from spotwarden.report.export.documents import document
from spotwarden.report.export.job_shapes import AuditDocument
from spotwarden.report.export.schema import schema
from spotwarden.report.export.shapes import RecoveryDocument
from spotwarden.report.model.experiments import Experiments, Money
from spotwarden.report.model.fleet import RecoveryFigures
from spotwarden.report.model.trust import TrustReport
from tests.report.exported import EVERY, HOUR, comparison, entry, experiment, experiments, fleet, life, trust
from tests.report.write_report_docs import PATH, text

ODD = st.one_of(
    st.text(max_size=20), st.sampled_from(("</script>", "\u2028", "\x00", "\ud800", "\u202e", '"', "\\"))
)


@pytest.fixture(scope="module")
def fits():
    """Holds a document against the schema."""
    whole = schema()
    jsonschema.Draft202012Validator.check_schema(whole)
    validator = jsonschema.Draft202012Validator(whole, format_checker=jsonschema.FormatChecker())
    return lambda document: [error.message for error in validator.iter_errors(document)]


@pytest.mark.parametrize("view", EVERY, ids=lambda one: type(one).__name__)
def test_every_view_fits_the_schema(view, fits):
    """It names itself and the version of its shape."""
    document = json.loads(as_json(view))
    assert fits(document) == []
    assert document["schema"] == 1


@pytest.mark.parametrize("view", EVERY, ids=lambda one: type(one).__name__)
def test_both_at_once_are_what_each_is_alone(view):
    """The copy without a server and the function give the same bytes."""
    assert as_both(view) == {"json": as_json(view), "csv": as_csv(view)}


class Lap(msgspec.Struct):
    """What a view might have."""

    who: str
    took: timedelta


class LapDocument(msgspec.Struct):
    """Its document: one name is another, one value is written, one is always the same."""

    runner: Annotated[str | None, "who"]
    minutes: Annotated[float, "took", lambda took: took.total_seconds() / 60]
    version: Annotated[int, 3]


class WrongDocument(msgspec.Struct):
    """It asks for what no lap has."""

    who: str
    height: float


def test_a_document_is_made_as_its_shape_says():
    """A name, a unit and a number that stand in an annotation; "" is null where the shape has null."""
    assert document(LapDocument, Lap("ada", HOUR)) == LapDocument("ada", 60, 3)
    assert document(LapDocument, Lap("", HOUR)).runner is None


def test_each_percentile_of_recovery_is_its_own():
    """In seconds."""
    times = {
        name: timedelta(seconds=number) for number, name in enumerate(("median", "p90", "p99", "longest"))
    }
    made = document(RecoveryDocument, RecoveryFigures(count=4, **times))
    assert msgspec.structs.astuple(made) == (4, 0, 1, 2, 3)


def test_an_action_names_its_record_and_its_sweep():
    """`audit` is the object that it stands in."""
    made = document(AuditDocument, replace(entry(), name="audit/1.jsonl", sweep="5"))
    assert (made.audit, made.sweep) == ("audit/1.jsonl", "5")


def test_a_shape_that_asks_for_what_the_view_has_not_is_an_error():
    """And never an empty column."""
    with pytest.raises(AttributeError, match="height"):
        document(WrongDocument, Lap("ada", HOUR))


@pytest.mark.parametrize(
    "change",
    [{"view": "outages"}, {"schema": 2}, {"jobs": None}, {"jobs": [{}]}, {"at": 7}],
    ids=str,
)
def test_what_is_no_report_does_not_fit(change, fits):
    """The schema tells a wrong document from a right one."""
    assert fits({**json.loads(as_json(experiments())), **change}) != []


@pytest.mark.parametrize("view", EVERY, ids=lambda one: type(one).__name__)
def test_a_name_that_goes_is_missed(view, fits):
    """Each name of a document is promised: without any one of them it fits no more."""
    document = json.loads(as_json(view))
    for name in document:
        assert fits({key: value for key, value in document.items() if key != name}) != []


def test_the_schema_of_the_docs_is_that_of_the_code():
    """Otherwise write it: `python -m tests.report.write_report_docs`."""
    assert PATH.read_text(encoding="utf-8") == text()


def test_every_name_that_counts_has_its_unit():
    """Hours, seconds, dollars, percent, a share, or a plain count; nobody has to guess."""
    units = ("_hours", "_seconds", "usd", "share", "goodput", "percent")
    counts = {
        "attempts", "preemptions", "nodes", "gpus", "jobs", "count", "found", "stockouts", "granted",
       "preempted",
        "attempt", "entries_left_out",
    }  # fmt: skip
    of_hours = {"used", "useful", "starting", "idle", "lost", "after", "unknown", "waiting"}
    of_metrics = {"step", "steps", "last", "lowest", "highest", "best", "value"}
    for part, said in schema()["$defs"].items():
        for name, kind in said.get("properties", {}).items():
            if "number" in json.dumps(kind) or '"integer"' in json.dumps(kind):
                known = counts | of_metrics | (of_hours if part == "HoursDocument" else set())
                assert name in known or name.endswith(units), (part, name)


def test_figures_are_those_of_the_view():
    """Hours to the hundredth of a second, dollars to the millionth."""
    (job,) = json.loads(as_json(experiments()))["jobs"]
    assert (job["runtime_seconds"], job["gpu_hours"], job["cost"]["usd"]) == (10800, 10, 2.5)
    assert job["cost"] == {"usd": 2.5, "unpriced_vm_hours": 0, "prices_of": "2026-11-01"}
    total = json.loads(as_json(fleet()))["total"]
    assert total["gpu_hours"]["used"] == 4
    assert (total["goodput"], total["vm_goodput"]) == (0.571429, 0.5)
    assert total["recovery"] == {
        "count": 1, "median_seconds": 300, "p90_seconds": 300, "p99_seconds": 300, "longest_seconds": 300
    }  # fmt: skip


def test_what_is_not_known_is_null(fits):
    """A price that nobody knows is no price of nothing; neither is an owner, a zone, a time."""
    bare = experiment(
        owner="", team="", standing=Standing.UNKNOWN, gpus=None, instances=(), started=None, runtime=None,
        up_time=None, gpu_time=None, cost=Money(unpriced=HOUR), metrics=(),
    )  # fmt: skip
    document = json.loads(as_json(experiments(bare)))
    (job,) = document["jobs"]
    unknown = {name for name, value in job.items() if value is None}
    assert unknown == {
        "owner", "team", "exit_code", "gpus", "started", "ended", "runtime_seconds", "up_seconds",
        "gpu_hours", "problem",
    }  # fmt: skip
    assert job["cost"] == {"usd": None, "unpriced_vm_hours": 1, "prices_of": None}
    assert fits(document) == []


@pytest.mark.parametrize(
    "view", [Experiments(at=None), replace(fleet(), at=None), TrustReport(at=None, query=trust().query)]
)
def test_before_the_first_sweep_there_is_a_document(view, fits):
    """It is empty, says that nobody has looked yet, and fits."""
    document = json.loads(as_json(view))
    assert document["at"] is None
    assert fits(document) == []


@given(ODD, ODD)
def test_whatever_was_written_is_json(first, second):
    """Halves of characters included; what UTF-8 can write comes back as it was."""
    view = life(
        experiment=experiment(owner=first, tags={first: second}, problem=second),
        entries=(entry(why=first, evidence={second: first}),),
    )
    document = json.loads(as_json(comparison(view)))["jobs"][0]
    assert (document["job"]["owner"] or "") == first.encode(errors="replace").decode()
    assert document["entries"][0]["evidence"] == {
        second.encode(errors="replace").decode(): first.encode(errors="replace").decode()
    }
