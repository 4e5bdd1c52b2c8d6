"""A record of the audit → an audit entry, as far as anybody asks."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from spotwarden.report.model.kept import Record
from spotwarden.report.model.trust import AuditedAction

TEXT = 1_000
"""Characters of one text; the audit has all of it."""
MANY = 100
"""VMs, or figures, of one audit entry."""

Said = Mapping[str, Any]


FIGURES = (
    *("fate", "lost", "lost_in", "cause", "state", "due", "remedy", "group", "group_id", "name", "to"),
    "message",
)
"""Of what was asked, the words that are evidence too."""


def entries(name: str, day: str, entry: str, records: Sequence[Record]) -> tuple[AuditedAction, ...]:
    """The entries of one object of the audit."""
    return tuple(_entry(f"{day}/{entry}#{number}", name, record) for number, record in enumerate(records, 1))


def _entry(key: str, name: str, record: Record) -> AuditedAction:
    about = _about(record.detail)
    targets = [
        item for item in _seq(about.get("targets") or about.get("instances")) if isinstance(item, Mapping)
    ]
    return AuditedAction(
        id=key,
        at=record.at,
        function=record.function,
        sweep=record.sweep,
        policy=record.policy,
        action=record.action,
        why=record.why[:TEXT],
        job=_text(about, "job"),
        node=_text(about, "node") or ", ".join(_text(target, "name") for target in targets[:MANY]),
        instance_ids=tuple(dict.fromkeys(_ids(about, targets)))[:MANY],
        rule=_text(about, "rule") or _text(_map(about.get("case")), "rule"),
        owner=_text(about, "owner"),
        place=_text(about, "zone") or next((_text(target, "zone") for target in targets), ""),
        evidence=dict(_evidence(about)),
        outcome=_text(record.outcome, "type"),
        detail=" ".join(_said(record.outcome))[:TEXT],
        name=name,
    )


def _about(detail: Said) -> Said:
    """What an action is about: itself, and what it carries: a case, a record of the ledger, or a notice."""
    inner = _map(detail.get("case")) or _map(detail.get("record")) or _map(detail.get("notice"))
    return {**detail, **inner, **_map(inner.get("subject"))} if inner else detail


def _map(value: object) -> Said:
    return value if isinstance(value, Mapping) else {}


def _seq(value: object) -> Sequence[object]:
    return value if isinstance(value, list | tuple) else ()


def _text(source: Said, name: str) -> str:
    value = source.get(name)
    return str(value)[:TEXT] if isinstance(value, str | int | float) else ""


def _ids(about: Said, targets: Sequence[Said]) -> Iterator[str]:
    if name := _text(about, "instance_id"):
        yield name
    yield from (_text(target, "id") for target in targets)
    for part in ("replaces", "instances"):
        yield from (item for item in _map(about.get(part)).values() if isinstance(item, str))


def _evidence(about: Said) -> Iterator[tuple[str, str]]:
    """The figures, and of what was asked for the place and what came before."""
    for name, value in list(_map(about.get("evidence")).items())[:MANY]:
        yield str(name)[:TEXT], str(value)[:TEXT]
    for name in FIGURES:
        if text := _text(about, name):
            yield name, text


def _said(outcome: Said) -> Iterator[str]:
    for name in ("code", "message", "detail"):
        if text := _text(outcome, name):
            yield text
