"""The trust page."""

from collections.abc import Iterator

from spotwarden.report.model.trust import AuditedAction, AuditQuery, TrustReport
from spotwarden.report.views.actions import action, outcome
from spotwarden.report.views.frame import PageFrame
from spotwarden.report.views.rendering import render


def trust(view: TrustReport, frame: PageFrame) -> str:
    """The page of what was found."""
    frame = frame.at("trust")

    def record(entry: AuditedAction) -> str:
        return frame.cloud(f"gs://{frame.bucket}/{entry.name}") if entry.name and frame.bucket else ""

    return render(
        "trust",
        frame,
        trust=view,
        query=view.query,
        asked=list(asked(view.query)),
        shown={entry.id: place for place, entry in enumerate(view.entries, 1)},
        count=_count(view),
        nothing=_nothing(view),
        record=record,
        action=action,
        outcome=outcome,
    )


def asked(query: AuditQuery) -> Iterator[tuple[str, str]]:
    """What is asked, as arguments of an address."""
    texts = (
        ("about", query.about),
        ("text", query.text),
        ("function", query.function),
        ("rule", query.rule),
        ("action", query.action),
        ("day", str(query.day or "")),
        ("changes", "1" if query.changes else ""),
    )
    return ((name, value) for name, value in texts if value)


def _count(view: TrustReport) -> str:
    found = f"{view.found:,} {'action' if view.found == 1 else 'actions'}"
    shown = f", the newest {len(view.entries):,} here" if len(view.entries) < view.found else ""
    return f"{found}{shown}{f', since {view.since}' if view.since else ''}"


def _nothing(view: TrustReport) -> str:
    if view.entries:
        return "No action on it ended a VM. All actions are listed below."
    days = f" on {view.query.day}" if view.query.day else ""
    if view.since is not None and not view.query.day:
        days = f" since {view.since}; for older ones, choose a day"
    return f"No action on this name or ID{days}. Copy the name or ID from the job's page."
