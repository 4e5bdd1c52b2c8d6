"""`Aggregation` messages: what they ask for, whether that can be, and doing it."""

from collections.abc import Sequence
from dataclasses import dataclass

from localcloud.google_types import monitoring as types
from localcloud.monitoring.align import ALIGNERS, MINUTE, Aligner, aligned, windows
from localcloud.monitoring.reduce import REDUCERS, Field, Reducer, reduced
from localcloud.monitoring.series import Nanos, Track
from localcloud.rpc import Raw, RpcError

LONGEST_PERIOD: Nanos = 104 * 7 * 24 * 60 * MINUTE
# What aligners look back at beyond their periods: the moving mean of ALIGN_PERCENT_CHANGE.
LOOK_BACK: Nanos = 10 * MINUTE


@dataclass(frozen=True, kw_only=True)
class Step:
    """One round of aligning and reducing; without an aligner nothing happens."""

    field: str
    aligner_name: str
    aligner: Aligner | None
    reducer_name: str
    reducer: Reducer | None
    period: Nanos
    group_by: tuple[Field, ...]

    @property
    def reach(self) -> Nanos:
        """How far before the start of an interval its points may be looked at."""
        return 2 * self.period + LOOK_BACK if self.aligner else 0

    def apply(self, tracks: Sequence[Track], start: Nanos, end: Nanos) -> list[Track]:
        """The series that come out for the interval (start, end].

        Raises:
            RpcError: INVALID_ARGUMENT when the aligner or reducer is not for series of this kind and type.
        """
        if self.aligner is None:
            return list(tracks)
        for track in tracks:
            self._check_aligner(self.aligner, track)
        periods = windows(start, end, self.period)
        found = [aligned(track, self.aligner, periods) for track in tracks]
        found = [track for track in found if track.ends]
        if self.reducer is None:
            return found
        for track in found:
            self._check_reducer(self.reducer, track)
        return list(reduced(found, self.reducer, self.group_by))

    def _check_aligner(self, aligner: Aligner, track: Track) -> None:
        if track.kind not in aligner.kinds or track.value_type not in aligner.types:
            raise _invalid(f"{self.field}.perSeriesAligner", self.aligner_name, _not_for("aligner", track))
        if track.kind == "CUMULATIVE" and track.value_type == "DISTRIBUTION":
            text = "The local cloud does not align cumulative distributions."
            raise RpcError("UNIMPLEMENTED", text)

    def _check_reducer(self, reducer: Reducer, track: Track) -> None:
        if track.value_type not in reducer.types:
            raise _invalid(f"{self.field}.crossSeriesReducer", self.reducer_name, _not_for("reducer", track))


def _not_for(what: str, track: Track) -> str:
    return (
        f"The {what} cannot be applied to metrics with kind {track.kind} and value type {track.value_type}."
    )


def read_step(aggregation: Raw, field: str) -> Step:
    """What a message asks for; `field` is its name in the request.

    Raises:
        RpcError: INVALID_ARGUMENT, with the field that cannot be used and why.
    """
    aligner = _name(types.Aggregation.Aligner, aggregation.per_series_aligner, f"{field}.perSeriesAligner")
    reducer = _name(
        types.Aggregation.Reducer, aggregation.cross_series_reducer, f"{field}.crossSeriesReducer"
    )
    if aligner == "ALIGN_NONE" and reducer != "REDUCE_NONE":
        text = "A reducer needs an aligner other than ALIGN_NONE."
        raise _invalid(f"{field}.perSeriesAligner", aligner, text)
    return Step(
        field=field,
        aligner_name=aligner,
        aligner=ALIGNERS.get(aligner),
        reducer_name=reducer,
        reducer=REDUCERS.get(reducer),
        period=_period(aggregation, field) if aligner != "ALIGN_NONE" else 0,
        group_by=tuple(
            found for path in aggregation.group_by_fields if (found := _field(path, f"{field}.groupByFields"))
        ),
    )


def _name(enum: Raw, number: int, field: str) -> str:
    try:
        return str(enum(number).name)
    except ValueError as error:
        raise _invalid(field, str(number), "There is no such value.") from error


def _period(aggregation: Raw, field: str) -> Nanos:
    period = aggregation.alignment_period.ToNanoseconds()
    shown = aggregation.alignment_period.ToJsonString()
    if period < MINUTE:
        raise _invalid(f"{field}.alignmentPeriod", shown, "The period must be at least 60 seconds.")
    if period > LONGEST_PERIOD:
        raise _invalid(f"{field}.alignmentPeriod", shown, "The period must be at most 104 weeks.")
    return int(period)


def _field(path: str, field: str) -> Field | None:
    """A field to group by; None for those that a group has in common anyway."""
    if path in ("resource.type", "metric.type", "project"):
        return None
    of, _, rest = path.partition(".")
    word, _, name = rest.partition(".")
    if of in ("metric", "resource") and word in ("label", "labels") and name:
        return of, name.strip("\"'")
    raise _invalid(field, path, "A field is metric.labels.NAME, resource.labels.NAME or resource.type.")


def _invalid(field: str, value: str, why: str) -> RpcError:
    return RpcError("INVALID_ARGUMENT", f'Field {field} had an invalid value of "{value}": {why}')
