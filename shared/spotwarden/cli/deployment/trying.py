"""Trying it out: each function is ticked, a marker and a mail go all the way; nothing of it stays behind.

All of it is begun at once and then waited for together.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from functools import partial
from http import HTTPStatus
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen
from uuid import uuid4

import msgspec

from spotwarden import typed
from spotwarden.cli.context import Context, new_tick
from spotwarden.cli.deployment.examining import TICK, Check, CheckState
from spotwarden.cli.deployment.manifest import DeployedFunction, DeploymentManifest
from spotwarden.cli.samples import samples
from spotwarden.engine.turn import Turn
from spotwarden.layout import AuditRecord, MarkerName, Quarantined, SweepTurn, notice_key, quarantine_key
from spotwarden.model.notice import Notice
from spotwarden.ports import RejectedError, Topic, UnansweredError

typed.prepare(Turn)

STEP = timedelta(milliseconds=250)
NUDGE = timedelta(seconds=5)
"""After so long the outbox is ticked once more: a first tick may come before what it is to send."""
MAIL_KIND = "launched"
LOG = "see its log"
RECOVERS, MAILER = "recover_spot", "notify_developers"

Topics = Callable[[str], Topic]


class Trial(msgspec.Struct, kw_only=True):
    """One thing that was begun: `look` says how it ended, None while it has not; `late` is told otherwise."""

    what: str
    look: Callable[[], Check | None]
    late: Check
    clean: Callable[[], None] = lambda: None


def run(trials: list[Trial], timeout: timedelta) -> Iterator[Check]:
    """Wait for all of them, as long as that at most; gives each as it ends."""
    until = time.monotonic() + timeout.total_seconds()
    waiting = list(trials)
    try:
        while True:
            for trial in list(waiting):
                if ended := trial.look():
                    waiting.remove(trial)
                    yield ended
            if not waiting or time.monotonic() >= until:
                break
            time.sleep(STEP.total_seconds())
        yield from (trial.late for trial in waiting)
    finally:
        for trial in trials:
            trial.clean()


def trials(context: Context, manifest: DeploymentManifest, topics: Topics, mail_to: str) -> Iterator[Trial]:
    """Everything that can be tried; what cannot be begun is a trial that has ended badly."""
    for function in manifest.functions:
        if function.schedule and function.name != MAILER:
            begin = partial(_sweeps, context, function, topics)
            yield _begun(f"{function.deployed_name} sweeps", begin)
    yield _begun("a marker goes through", lambda: _marker(context))
    if mail_to:
        mailer = next((deployed for deployed in manifest.functions if deployed.name == MAILER), None)
        if mailer:
            yield _begun("a mail arrives", lambda: _mail(context, mailer, topics, mail_to))


def _begun(what: str, begin: Callable[[], Trial]) -> Trial:
    try:
        return begin()
    except (RejectedError, UnansweredError, OSError) as error:
        bad = Check(
            what=what, state=CheckState.BAD, why=f"it can't be started: {error}", todo="fix that first"
        )
        return Trial(what=what, look=lambda: bad, late=bad)


def _tick(topics: Topics, function: DeployedFunction) -> None:
    topics(function.topic).publish(b"tick", {TICK: function.name})


def _sweeps(context: Context, function: DeployedFunction, topics: Topics) -> Trial:
    """Its turn is taken and given back: it has looked at everything, and come to its end."""
    store = context.cloud.store
    name = context.settings.layout.build(SweepTurn(function=function.name))
    before = store.read(name)
    what = f"{function.deployed_name} sweeps"

    def look() -> Check | None:
        now = store.read(name)
        if now is None or (before is not None and now.generation == before.generation):
            return None
        turn = typed.decode(now.data, Turn)
        return None if turn.holder else Check(what=what, state=CheckState.GOOD)

    _tick(topics, function)
    late = Check(
        what=what,
        state=CheckState.BAD,
        why="it ran, but completed no sweep",
        todo=f"{LOG}: severity>=ERROR, jsonPayload.function={function.name}",
    )
    return Trial(what=what, look=look, late=late)


def _marker(context: Context) -> Trial:
    """A marker of a VM that no job has: it is put aside, or, by one that observes, written down to be."""
    store, layout = context.cloud.store, context.settings.layout
    node = f"spotwarden-doctor-{uuid4().hex[:8]}"
    name = layout.build(MarkerName(node=node))
    what = "a marker goes through"
    began = context_now()
    generation = store.write(name, b"", generation=0)
    aside = layout.build(Quarantined(key=quarantine_key(node), generation=generation))

    def look() -> Check | None:
        if store.entries(aside, limit=1):
            return Check(what=what, state=CheckState.GOOD)
        if _observed(context, node, began, context_now()):
            return Check(what=what, state=CheckState.GOOD, why="observe mode: it is recorded, not moved")
        return None

    def clean() -> None:
        for item in (name, aside):
            if stored := store.read(item):
                store.delete(item, generation=stored.generation)

    late = Check(
        what=what,
        state=CheckState.BAD,
        why="it was not quarantined",
        todo=f"look at the bucket notification and at recover-spot ({LOG})",
    )
    return Trial(what=what, look=look, late=late, clean=clean)


def _observed(context: Context, node: str, began: datetime, now: datetime) -> bool:
    """Whether a sweep that began between the two has written down what it would do with this marker."""
    store, layout = context.cloud.store, context.settings.layout
    minutes = int((now - began).total_seconds() // 60) + 2
    records = (began + timedelta(minutes=number) for number in range(minutes))
    below = [
        layout.build(AuditRecord(day=at.date(), entry=f"{at:%H%M}")).removesuffix(".json") for at in records
    ]
    entries = [entry for prefix in below for entry in store.entries(prefix) if RECOVERS in entry.name]
    return any(node.encode() in stored.data for entry in entries if (stored := store.read(entry.name)))


def context_now() -> datetime:
    """The moment, as functions tell it."""
    return new_tick("doctor").now


def _mail(context: Context, mailer: DeployedFunction, topics: Topics, to: str) -> Trial:
    """A sample of a notice, published as any other, is written down as delivered."""
    store, layout = context.cloud.store, context.settings.layout
    tick = new_tick("doctor")
    every = samples(uuid4().hex, to=to, at=tick.now)
    notice = next(outcome for outcome in every if outcome.kind == MAIL_KIND)
    key = notice_key(notice.id)
    what = f"a mail to {to} arrives"
    ticked = [time.monotonic()]
    topics(context.settings.notices).publish(msgspec.json.encode(notice), _attributes(notice))

    def look() -> Check | None:
        if store.entries(layout.delivered(key), limit=1):
            return Check(what=what, state=CheckState.GOOD, why="the mail server accepted it")
        failed = [entry for entry in store.entries(layout.undelivered()) if key in entry.name]
        if failed:
            todo = f"spotwarden notices show {notice.id}"
            return Check(what=what, state=CheckState.BAD, why="it could not be delivered", todo=todo)
        if time.monotonic() - ticked[0] >= NUDGE.total_seconds():
            ticked[0] = time.monotonic()
            _tick(topics, mailer)
        return None

    _tick(topics, mailer)
    late = Check(
        what=what,
        state=CheckState.BAD,
        why="it is still waiting, or was not picked up",
        todo=f"check SPOTWARDEN_SMTP. To see why: spotwarden notices list; {LOG}",
    )
    return Trial(what=what, look=look, late=late)


def _attributes(notice: Notice) -> Mapping[str, str]:
    return {"kind": notice.kind, "severity": notice.severity.value, "job": notice.job, "id": notice.id}


def answers(url: str) -> Check:
    """Whether the page that mails lead to answers; without a token it says that the link is none."""
    what = "answers are taken"
    try:
        with urlopen(Request(url, method="GET"), timeout=20) as answer:  # noqa: S310 - our own deployment's URL
            status = answer.status
    except HTTPError as error:
        status = error.code
    except (URLError, OSError, ValueError) as error:
        return Check(
            what=what,
            state=CheckState.BAD,
            why=f"{url}: {error}",
            todo="check that answer-notice is deployed and public",
        )
    refused = {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}
    if status in refused or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        todo = "check that anyone may call it (allUsers); an organization's policy may forbid that; " + LOG
        return Check(what=what, state=CheckState.BAD, why=f"{url} answers {status}", todo=todo)
    return Check(what=what, state=CheckState.GOOD)
