"""What is asked of the table of experiments, and which rows answer."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spotwarden.model.standing import Standing
from spotwarden.report.model.experiments import Experiment, MetricSummary, Money
from spotwarden.report.views.asking import MOST, SIZES, TableQuery, choose

NOW = datetime(2026, 11, 20, 15, tzinfo=UTC)
HOUR = timedelta(hours=1)


def jobs(chosen):
    """The names of the rows."""
    return [row.job for row in chosen.rows]


def ask(rows, **args):
    """The names that answer these arguments."""
    return jobs(choose(rows, TableQuery.read(args)))


ADA = Experiment(
    job="bert", owner="ada@x.org", team="Speech", zones=("us-a",), tags={"lr": "0.1"}, instances=("123",)
)
BOB = Experiment(job="gpt", owner="bob@x.org", team="vision", standing=Standing.RUNNING)


@pytest.mark.parametrize("text", ["bert", "BERT", "ada@", "speech", "us-a", "lr=0.1", "ada bert", "123"])
def test_words_are_looked_for_in_all_that_a_row_says(text):
    """A name, an owner, a team, a zone, a VM's id or a tag, in any case; of several words each."""
    assert ask([ADA, BOB], q=text) == ["bert"]


@pytest.mark.parametrize("text", ["bert gpt", "lr=0.2", "1234"])
def test_a_row_without_one_of_the_words_is_not_shown(text):
    """Each word has to be there."""
    assert ask([ADA, BOB], q=text) == []


def test_a_filter_wants_the_whole_value():
    """Status, owner and team are compared, not searched; capital letters do not count."""
    assert ask([ADA, BOB], status="running") == ["gpt"]
    assert ask([ADA, BOB], status="run") == []
    assert ask([ADA, BOB], owner="ADA@x.org") == ["bert"]
    assert ask([ADA, BOB], owner="ada") == []
    assert ask([ADA, BOB], team="speech") == ["bert"]


def test_what_is_not_known_stands_last_in_either_order():
    """A job without a start is neither the oldest nor the newest."""
    rows = [Experiment(job="none"), *(Experiment(job=f"at-{n}", started=NOW + n * HOUR) for n in (1, 2))]
    assert ask(rows, sort="started", order="asc") == ["at-1", "at-2", "none"]
    assert ask(rows, sort="started", order="desc") == ["at-2", "at-1", "none"]


def test_a_cost_without_hours_is_not_known():
    """A job of which nobody knows how long its VMs were up is not the cheapest; one that cost nothing is."""
    unknown = Experiment(job="unknown")
    free = Experiment(job="free", up_time=timedelta(0))
    dear = Experiment(job="dear", up_time=HOUR, cost=Money(micros=5, priced=HOUR))
    unpriced = Experiment(job="unpriced", up_time=HOUR, cost=Money(unpriced=HOUR))
    order = ask([unknown, unpriced, dear, free], sort="cost", order="asc")
    assert order == ["free", "dear", "unknown", "unpriced"]


def test_a_metric_is_sorted_by_its_last_or_best_value():
    """A value that is no number stands with those who have none."""
    rows = [
        Experiment(job=job, metrics=(MetricSummary(name="loss", last=last, best=best),))
        for job, last, best in (("a", 0.5, 0.1), ("b", 0.2, 0.2), ("c", "nan", 0.3))
    ]
    assert ask(rows, sort="last", order="asc", metric="loss") == ["b", "a", "c"]
    assert ask(rows, sort="best", order="asc") == ["a", "b", "c"]
    assert ask([*rows, ADA], sort="best", metric="accuracy") == ["a", "b", "bert", "c"]


def test_the_metric_of_most_jobs_has_the_columns():
    """Unless another is asked for."""
    rows = [
        Experiment(job="a", metrics=(MetricSummary(name="acc", last=1.0),)),
        *(Experiment(job=f"b{n}", metrics=(MetricSummary(name="loss", last=1.0),)) for n in (1, 2)),
    ]
    assert choose(rows, TableQuery()).metric == "loss"
    assert choose(rows, TableQuery(metric="acc")).metric == "acc"


@given(st.dictionaries(st.sampled_from(["q", "sort", "order", "page", "size", "metric"]), st.text()))
def test_no_address_is_wrong(args):
    """What is not understood is not asked: a mangled link still shows a table."""
    chosen = choose([ADA, BOB], TableQuery.read(args))
    assert 1 <= chosen.asked.page <= chosen.pages
    assert chosen.asked.size in SIZES
    assert len(chosen.asked.q) <= MOST


@given(
    asked=st.builds(
        TableQuery,
        q=st.sampled_from(["", "a", "b c"]),
        sort=st.sampled_from(["started", "job", "cost", "last", "progress", "zones"]),
        order=st.sampled_from(["asc", "desc"]),
        page=st.integers(1, 4),
        size=st.sampled_from(SIZES),
        metric=st.sampled_from(["", "loss"]),
    )
)
def test_a_link_asks_what_it_was_made_from(asked):
    """Written into an address and read again it is the same."""
    assert TableQuery.read(dict(asked.pairs())) == asked


@given(count=st.integers(0, 180), order=st.sampled_from(["asc", "desc"]))
def test_each_row_stands_on_one_page(count, order):
    """All pages together have each row once, and only the last one may be short."""
    rows = [Experiment(job=f"j{n:03}", started=NOW + n % 7 * HOUR if n % 3 else None) for n in range(count)]
    first = choose(rows, TableQuery(size=50, order=order))
    pages = [choose(rows, TableQuery(size=50, order=order, page=page)) for page in range(1, first.pages + 1)]
    assert sorted(job for page in pages for job in jobs(page)) == sorted(row.job for row in rows)
    assert [len(page.rows) for page in pages[:-1]] == [50] * (first.pages - 1)
    assert [page.begin for page in pages] == ([1 + 50 * n for n in range(first.pages)] if rows else [0])
