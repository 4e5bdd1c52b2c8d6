"""What waits to be told, for the tests of messages: everything ordinary unless a test says otherwise."""

from datetime import UTC, datetime, timedelta
from typing import Any

from msgspec.structs import replace

from spotwarden.model.delivery import Channel, Pending, Recipient
from spotwarden.model.finding import Target
from spotwarden.model.message import Mail, MailLinks, Shape
from spotwarden.model.notice import CaseRef, Notice, Severity, Way
from spotwarden.notify.templates import hook, mail

NOW = datetime(2026, 11, 21, 14, 0, tzinfo=UTC)
SOON = NOW + timedelta(minutes=30)
ANN = "ann@example.com"
SITE = "https://answers.example.com/"


def notice(**facts: Any) -> Notice:
    """The last warning about the idle GPUs of nap-1, which is Ann's."""
    return replace(
        Notice(
            id="idle/123/warning-2",
            kind="idle_warning",
            severity=Severity.URGENT,
            job="nap",
            at=NOW,
            what="nap-1 has idle GPUs",
            why="All 4 GPUs of nap-1 have been below 5 % for 1 h.",
            todo="let it work, or stop it. To keep it, run `spotwarden cases keep idle 123 --for 8h`",
            then="it will be stopped (its disks are kept) at 2026-11-21 14:30 UTC or later",
            due=SOON,
            owner=ANN,
            evidence={"busiest GPU": "1.0 %", "idle_since": "13:00 UTC"},
            instances=(Target(id="123", name="nap-1", zone="us-central1-a"),),
            case=CaseRef(rule="idle", key="123", opened=NOW - timedelta(hours=1)),
            ways=(Way.KEEP, Way.STOP),
        ),
        **facts,
    )


def pending(about: Notice | None = None, **facts: Any) -> Pending:
    """A notice that waits to be mailed to Ann."""
    ann = Recipient(channel=Channel.EMAIL, address=ANN)
    return replace(Pending(notice=about or notice(), recipient=ann, since=NOW), **facts)


def links(*pendings: Pending, **facts: Any) -> MailLinks:
    """A link for each way to answer."""
    offers = {
        one.notice.id: tuple((way, f"{SITE}?t={way.value}-{number}") for way in one.notice.ways)
        for number, one in enumerate(pendings)
    }
    return replace(
        MailLinks(
            offers=offers,
            preferences=f"{SITE}?t=wish",
            unsubscribe=f"{SITE}?t=wish",
            keep=timedelta(hours=8),
            extend=timedelta(hours=4),
        ),
        **facts,
    )


def message(*pendings: Pending, again: bool = False, **facts: Any) -> Mail:
    """The mail that tells these, with a link for each answer."""
    pendings = pendings or (pending(),)
    given = facts.pop("links", None) or links(*pendings)
    return mail(pendings, links=given, message_id="m1@example.com", at=NOW, again=again)


def post(shape: str, *pendings: Pending, again: bool = False) -> bytes:
    """The body of the post that tells these."""
    pendings = pendings or (pending(),)
    return hook(pendings, shape=Shape(shape), id="p1", at=NOW, again=again).body


def flood(number: int, jobs: int = 9, **facts: Any) -> list[Pending]:
    """So many warnings about so many jobs, the first three of them urgent."""
    return [
        pending(
            notice(
                **{
                    "id": f"idle/{one}/warning-1",
                    "job": f"job-{one % jobs}",
                    "what": f"job-{one % jobs}-{one} has idle GPUs",
                    "severity": Severity.URGENT if one < 3 else Severity.WARNING,
                    **facts,
                }
            )
        )
        for one in range(number)
    ]
