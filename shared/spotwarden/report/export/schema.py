"""The JSON schema of the report's documents: for teams' own tools."""

from collections.abc import Mapping
from typing import Any

import msgspec

from spotwarden.report.export.job_shapes import ComparisonDocument, JobDocument, TrustDocument
from spotwarden.report.export.shapes import SCHEMA, ExperimentsDocument, FleetDocument

DOCUMENTS = (ExperimentsDocument, JobDocument, ComparisonDocument, FleetDocument, TrustDocument)


def schema() -> Mapping[str, Any]:
    """JSON Schema 2020-12; which of the documents one is says its `view`."""
    refs, parts = msgspec.json.schema_components(DOCUMENTS, ref_template="#/$defs/{name}")
    known = {name: _joined(part) for name, part in parts.items()}
    for moment in DOCUMENTS:
        known[moment.__name__]["properties"]["schema"] = {"const": SCHEMA}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A report of Spotwarden",
        "description": "Hours, seconds and US dollars are in the names; null is unknown, and never 0.",
        "oneOf": list(refs),
        "$defs": known,
    }


def _joined(part: Mapping[str, Any]) -> dict[str, Any]:
    """With its docstring as one paragraph."""
    return {
        **part,
        **({"description": " ".join(part["description"].split())} if "description" in part else {}),
    }
