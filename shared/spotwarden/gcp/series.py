"""Cloud Monitoring's `timeSeries.list`, as far as it is asked here: the question, and its pages."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache

import msgspec

from spotwarden import typed
from spotwarden.gcp.calls import ID_ONLY, decode
from spotwarden.gcp.rest import Rest
from spotwarden.ports import RejectedError, UnansweredError

SHORTEST = timedelta(minutes=1)
"""The least alignment period ("Method: projects.timeSeries.list", `Aggregation`)."""

MOST_IDS = 60
"""So many are named in one filter, whose greatest length Google does not tell."""

MOST_CALLS = 10
"""For more ids than fit into so many calls everything is asked for, and cut here."""

POINTS = "50000"
"""On one page, which is then some five megabytes. Monitoring gives 100,000 at most."""

_FIELDS = (
    "timeSeries(resource/labels,points(interval/endTime,value)),nextPageToken,executionErrors,unreachable"
)
_INSTANCE = "resource.label.instance_id"
_GPU = "metric.label.gpu_number"
_NEVER_WRITTEN = "NOT_FOUND"

Query = Mapping[str, str | list[str]]
"""Parameters of a call; a list is one parameter given several times."""


class Ask(msgspec.Struct, frozen=True, kw_only=True):
    """One number for each instance and period: `aligner` within a series, `reducer` over its series.

    With `each_gpu` the points of a GPU, whatever its series are called, are first summed up, and `reducer` is
    over its GPUs: an agent that was restarted may call them by another uuid or model. `where` narrows down
    the metric's series, in the language of "Monitoring filters".
    """

    metric: str
    aligner: str
    reducer: str
    start: datetime
    end: datetime
    step: timedelta
    each_gpu: bool = False
    where: str = ""

    def query(self, project: str, ids: Collection[str]) -> Query:
        """The parameters of the call."""
        return {
            "filter": " AND ".join(self._terms(project, ids)),
            "interval.startTime": _stamp(self.start),
            "interval.endTime": _stamp(self.end),
            **self._aggregations(),
            "view": "FULL",
            "pageSize": POINTS,
            "fields": _FIELDS,
        }

    def _aggregations(self) -> Query:
        if not self.each_gpu:
            return self._aggregation("aggregation", self.aligner, self.reducer, [_INSTANCE])
        return {
            **self._aggregation("aggregation", self.aligner, "REDUCE_SUM", [_INSTANCE, _GPU]),
            # One value a period: to align it once more changes nothing, but no reducer goes without.
            **self._aggregation("secondaryAggregation", "ALIGN_MAX", self.reducer, [_INSTANCE]),
        }

    def _aggregation(self, name: str, aligner: str, reducer: str, groups: list[str]) -> Query:
        return {
            f"{name}.alignmentPeriod": f"{int(self.step.total_seconds())}s",
            f"{name}.perSeriesAligner": aligner,
            f"{name}.crossSeriesReducer": reducer,
            f"{name}.groupByFields": groups,
        }

    def _terms(self, project: str, ids: Collection[str]) -> Iterator[str]:
        # One project may be set up to see the metrics of others; theirs would only cost.
        yield f'project = "{project}"'
        yield f'metric.type = "{self.metric}"'
        yield 'resource.type = "gce_instance"'
        if self.where:
            yield self.where
        if ids:
            named = ",".join(f'"{one}"' for one in ids)
            yield f"resource.labels.instance_id = one_of({named})"


class Value(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """A number, of either type; 64-bit integers are text in JSON, and so is what is no finite number."""

    double_value: float | str | None = None
    int64_value: str | None = None

    @property
    def number(self) -> float:
        """The number; `UnansweredError` where it is none that we know."""
        if self.double_value is not None:
            return float(self.double_value)
        if self.int64_value is not None:
            return float(self.int64_value)
        raise UnansweredError("a point of Monitoring without a number")


class Interval(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """Of an aligned point only the end counts. Kept as text: few moments are told of many points."""

    end_time: str


class Point(msgspec.Struct, frozen=True, gc=False):
    """One aligned value."""

    interval: Interval
    value: Value


class Resource(msgspec.Struct, frozen=True, gc=False):
    """What a series is about."""

    labels: dict[str, str] = {}


class Series(msgspec.Struct, frozen=True, gc=False):
    """One series, or what of it stands on this page; the newest point comes first."""

    resource: Resource = Resource()
    points: Sequence[Point] = ()

    @property
    def instance_id(self) -> str:
        """The instance's id; "" for none."""
        return self.resource.labels.get("instance_id", "")


class Trouble(msgspec.Struct, frozen=True):
    """A `Status`: why a part of the answer may be missing."""

    message: str = ""


class Page(msgspec.Struct, frozen=True, rename="camel"):
    """One page of an answer."""

    time_series: Sequence[Series] = ()
    next_page_token: str = ""
    execution_errors: Sequence[Trouble] = ()
    unreachable: Sequence[str] = ()

    def check(self) -> None:
        """Raise `UnansweredError` where something may be missing: it may be the busiest GPU."""
        if self.execution_errors or self.unreachable:
            said = [*(one.message for one in self.execution_errors), *self.unreachable]
            raise UnansweredError(f"Monitoring answered in part: {'; '.join(said)}")


typed.prepare(datetime, Page)


def listed(rest: Rest, project: str, ask: Ask, ids: Collection[str] = ()) -> Iterator[Series]:
    """The series of the answer; none where the metric was never written, which Monitoring says with a 404.

    Raises:
        RejectedError: the question was refused.
        UnansweredError: no answer, or one that is not whole.
    """
    wanted = sorted(one for one in set(ids) if ID_ONLY.fullmatch(one))
    if ids and not wanted:
        return
    calls = [wanted[first : first + MOST_IDS] for first in range(0, len(wanted), MOST_IDS)]
    for named in calls if 0 < len(calls) <= MOST_CALLS else [[]]:
        for page in _pages(rest, project, ask.query(project, named)):
            yield from page.time_series


def _pages(rest: Rest, project: str, query: Query) -> Iterator[Page]:
    token: Query = {}
    while True:
        try:
            page = decode(rest.get(f"/v3/projects/{project}/timeSeries", {**query, **token}), Page)
        except RejectedError as refused:
            if refused.code == _NEVER_WRITTEN:
                return
            raise
        except msgspec.ValidationError as error:
            raise UnansweredError(f"an answer of a form that we do not know: {error}") from error
        page.check()
        yield page
        if not page.next_page_token:
            return
        token = {"pageToken": page.next_page_token}


@lru_cache(maxsize=4096)
def moment(text: str) -> datetime:
    """A moment as Google writes it."""
    return typed.convert(text, datetime)


def _stamp(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
