"""The JSON schema of a notice and of the plain hook's posts, and the table of kinds: for teams' own tools."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from spotwarden.model.notice import Notice
from spotwarden.model.policy import RULES
from spotwarden.notify.templates.hooks import SCHEMA
from spotwarden.notify.templates.kinds import KINDS, OF_RULES, PHASES, NoticeKind

_MOMENT = {"type": "string", "format": "date-time"}
_FIELDS = {
    "id": "Names the notice: two messages with one ID are one notice, sent twice. `test/…` is a test.",
    "kind": "Its kind, one of those in kinds.md. New kinds may be added.",
    "severity": "How soon a person should look.",
    "job": 'The job\'s name; "" where it is about none.',
    "at": "When it was decided; UTC.",
    "what": "What happened, in one sentence for a person.",
    "why": "The reason, in one sentence or several.",
    "todo": "What the reader can do; commands stand between backticks.",
    "then": "What will happen if no one does anything.",
    "due": "When that will happen at the earliest; null where nothing will be done.",
    "grace": "How long after its arrival that will happen at the earliest; null for none.",
    "latest": "When it may happen whether this notice arrives or not; null where no earlier one lets it.",
    "owner": "Whom it is for: a mail address, or the name of an owner that the policy's teams know.",
    "evidence": "The figures and names behind it.",
    "instances": "The VMs that it is about.",
    "case": "The case that it is about, where it can be answered to; null for none.",
    "ways": "How it can be answered.",
    "title": 'What is wrong, as the end of a sentence; "" for what is wrong by the rule.',
    "tables": "Tables of figures; a weekly report has some.",
}


def schema() -> Mapping[str, Any]:
    """JSON Schema 2020-12 of what the topic carries; the body of a plain hook is its `$defs/Post`."""
    (ref,), parts = msgspec.json.schema_components([Notice], ref_template="#/$defs/{name}")
    known = {name: {**part, "description": _joined(part["description"])} for name, part in parts.items()}
    notice = known["Notice"]
    fields = {name: {"description": _FIELDS[name], **part} for name, part in notice["properties"].items()}
    fields["at"] |= _MOMENT
    fields["due"] |= {"anyOf": [_MOMENT, {"type": "null"}]}
    fields["latest"] |= {"anyOf": [_MOMENT, {"type": "null"}]}
    known["Notice"] = {**notice, "properties": fields}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A notice of Spotwarden",
        **ref,
        "$defs": {**known, "Post": _post(ref)},
    }


def table() -> str:
    """The page of all kinds, in Markdown."""
    return "\n".join(_table()) + "\n"


def _table() -> Iterator[str]:
    yield "# Kinds of notices"
    yield ""
    yield "Each message of the topic `spotwarden-notices` carries one notice as JSON ([schema](schema.json)),"
    yield "with the attributes `kind`, `severity`, `job` and `id`. A subscription can filter by them, such as"
    yield '`attributes.kind = "gave_up"` or `attributes.severity = "urgent"`.'
    yield ""
    yield from _rows({name: kind for name, kind in KINDS.items() if name not in OF_RULES})
    yield ""
    yield "## Kinds of each rule"
    yield ""
    yield "Each rule has five kinds: its name and one of these endings, such as `idle_warning`."
    yield ""
    yield from _rows({f"…_{phase}": kind for phase, kind in PHASES.items()})
    yield ""
    yield "| rule | a VM or job |"
    yield "|---|---|"
    for rule, limits in RULES.items():
        yield f"| `{rule}` | {limits.TITLE} |"


def _rows(kinds: Mapping[str, NoticeKind]) -> Iterator[str]:
    yield "| kind | severity | meaning |"
    yield "|---|---|---|"
    for name, kind in kinds.items():
        severities = ", ".join(severity.value for severity in kind.severities)
        yield f"| `{name}` | {severities} | {kind.meaning} |"


def _post(ref: Mapping[str, Any]) -> Mapping[str, Any]:
    """The body that a hook of the plain shape gets."""
    fields = {
        "schema": {"const": SCHEMA, "description": "The version of this shape."},
        "id": {"type": "string", "description": "The same when it is sent again."},
        "at": _MOMENT,
        "again": {"type": "boolean", "description": "Whether it may be a second copy."},
        "notices": {"type": "array", "items": ref},
    }
    return {"title": "Post", "type": "object", "properties": fields, "required": list(fields)}


def _joined(text: str) -> str:
    """A docstring as one paragraph."""
    return " ".join(text.split())
