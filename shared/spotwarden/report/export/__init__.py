"""The report's figures for people's own tools: each view as JSON and as CSV, both from one document."""

import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from spotwarden.report.export import job_sheets, sheets
from spotwarden.report.export.documents import document
from spotwarden.report.export.job_shapes import ComparisonDocument, JobDocument, TrustDocument
from spotwarden.report.export.shapes import ExperimentsDocument, FleetDocument
from spotwarden.report.model.experiments import Experiments
from spotwarden.report.model.fleet import FleetReport
from spotwarden.report.model.job import Comparison, JobReport
from spotwarden.report.model.trust import TrustReport

View = Experiments | JobReport | Comparison | FleetReport | TrustReport

_DOCUMENTS: Mapping[type, type[msgspec.Struct]] = {
    Experiments: ExperimentsDocument,
    JobReport: JobDocument,
    Comparison: ComparisonDocument,
    FleetReport: FleetDocument,
    TrustReport: TrustDocument,
}
_SHEETS: Mapping[type, Callable[[Any], bytes]] = {
    Experiments: sheets.experiments,
    JobReport: job_sheets.job,
    Comparison: job_sheets.comparison,
    FleetReport: sheets.fleet,
    TrustReport: job_sheets.trust,
}
_NAMES: Mapping[type, str] = {
    Experiments: "experiments",
    Comparison: "compare",
    FleetReport: "fleet",
    TrustReport: "trust",
}
_ODD = re.compile(r"[^A-Za-z0-9-]+")
_LONGEST = 80


def as_both(view: View) -> Mapping[str, bytes]:
    """The view as `json` and as `csv`, for less than each of them costs by itself."""
    made = document(_DOCUMENTS[type(view)], view)
    return {"json": msgspec.json.encode(made), "csv": _SHEETS[type(view)](made)}


def as_json(view: View) -> bytes:
    """The view as JSON, which `docs/report/schema.json` describes."""
    return msgspec.json.encode(document(_DOCUMENTS[type(view)], view))


def as_csv(view: View) -> bytes:
    """The view as CSV; of the fleet the tables, of a job its life, of several their rows."""
    return _SHEETS[type(view)](document(_DOCUMENTS[type(view)], view))


def file_name(view: View, kind: str) -> str:
    """What a download of it is called: letters, digits and `-`, whatever its job is called."""
    name = f"job-{view.experiment.job}" if isinstance(view, JobReport) else _NAMES[type(view)]
    return f"spotwarden-{_ODD.sub('-', name)[:_LONGEST]}.{kind}"
