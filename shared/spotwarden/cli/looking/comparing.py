"""Two jobs beside each other: in what they differ, and how they went. Their own names do not count."""

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import unified_diff
from typing import Any

import msgspec

from spotwarden.cli.looking.details import Details
from spotwarden.cli.looking.sparks import BARS, sparks
from spotwarden.recovery.folder.standing import JobSummary
from spotwarden.report.model.experiments import MetricSummary
from spotwarden.report.model.job import CurvePoint

NOT_SETTINGS = frozenset({"at", "by", "code_bytes", "problem"})
"""Of how a job was asked for: what says when and by whom, and what is held against each other by itself."""


class JobSide(msgspec.Struct, frozen=True, kw_only=True):
    """One of the two; `code` is the checksum of its code, "" where it has none."""

    row: JobSummary
    details: Details
    code: str = ""

    @property
    def script(self) -> str:
        """Its create script."""
        stored = self.details.facts.script
        return stored.text.decode(errors="replace") if stored else ""


class MetricCurve(msgspec.Struct, frozen=True, kw_only=True):
    """A metric of both: None where one does not have it; `sparks` are its curves, on the same axes."""

    name: str
    measures: tuple[MetricSummary | None, MetricSummary | None]
    points: tuple[int, int]
    sparks: tuple[str, str]

    @property
    def same(self) -> bool:
        """Whether the two came to the same, last and at best; how often somebody looked does not count."""
        metric, other = self.measures
        return (
            metric is not None
            and other is not None
            and (metric.last, metric.best) == (other.last, other.best)
        )


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """All of it; `script` are the lines of a unified diff, `settings` only those that differ."""

    script: tuple[str, ...]
    settings: Mapping[str, tuple[str, str]]
    metrics: tuple[MetricCurve, ...]

    @property
    def same(self) -> bool:
        """Whether the two were asked for in the same way and measured the same."""
        return not self.script and not self.settings and all(metric.same for metric in self.metrics)


def difference(side: JobSide, other: JobSide, *, bars: str = BARS) -> Difference:
    """Hold them against each other."""
    return Difference(
        script=tuple(_scripts(side, other)),
        settings=dict(_settings(side, other)),
        metrics=tuple(_metrics(side.details, other.details, bars)),
    )


def _scripts(side: JobSide, other: JobSide) -> Iterator[str]:
    left, right = side.script.splitlines(), other.script.splitlines()
    known = set(left)
    # A line that is the same as it stands is no other for having the job's name in it by chance.
    renamed = [line if line in known else _renamed(line, other, side) for line in right]
    yield from unified_diff(left, renamed, side.row.job, other.row.job, lineterm="")


def _renamed(text: str, side: JobSide, to: JobSide) -> str:
    """With the other's name for this one's."""
    return re.sub(rf"(?<![a-z0-9-]){re.escape(side.row.job)}(?![a-z0-9])", to.row.job, text)


def _settings(side: JobSide, other: JobSide) -> Iterator[tuple[str, tuple[str, str]]]:
    left, right = _said(side), _said(other)
    for name in dict.fromkeys((*left, *right)):
        mine, yours = left.get(name, ""), right.get(name, "")
        if mine not in {yours, _renamed(yours, other, side)}:
            yield name, (mine, yours)


def _said(side: JobSide) -> dict[str, str]:
    """Everything that was set, by name."""
    run = side.details.run
    found: dict[str, Any] = {**(msgspec.to_builtins(run) if run else {}), "code": side.code}
    found |= {f"job.toml {name}": value for name, value in _set(side.details.facts.file)}
    return {
        name: text for name, value in found.items() if name not in NOT_SETTINGS and (text := _text(value))
    }


def _set(file: msgspec.Struct) -> Iterator[tuple[str, Any]]:
    for name, value in msgspec.to_builtins(file).items():
        if value not in (None, "", {}, [], False) and name not in NOT_SETTINGS:
            yield name, value


def _text(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={_text(item)}" for name, item in sorted(value.items()))
    if isinstance(value, list | tuple):
        return " ".join(_text(part) for part in value)
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _metrics(details: Details, other: Details, bars: str) -> Iterator[MetricCurve]:
    left, right = {m.name: m for m in details.measures}, {m.name: m for m in other.measures}
    mine, yours = _points(details), _points(other)
    for name in sorted({*left, *right}):
        points = mine.get(name, ()), yours.get(name, ())
        drawn = sparks(*points, bars=bars)
        yield MetricCurve(
            name=name,
            measures=(left.get(name), right.get(name)),
            points=(len(points[0]), len(points[1])),
            sparks=(drawn[0], drawn[1]),
        )


def _points(details: Details) -> dict[str, Sequence[CurvePoint]]:
    return {curve.metric: curve.points for curve in details.curves}
