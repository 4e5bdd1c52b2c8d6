"""Carries out what was decided: honours the mode, translates what goes wrong, writes the audit."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from threading import Lock

from spotwarden.engine.audit import AuditEntry, Author, record, say, write_down
from spotwarden.engine.executor import on_bucket, on_compute, on_people
from spotwarden.engine.executor.outside import ExecutorContext
from spotwarden.engine.log import WriteLine, log
from spotwarden.layout import Layout
from spotwarden.model.action import (
    Change,
    ClearMarker,
    CloseCase,
    EndWatch,
    FileCase,
    KeepWatch,
    Question,
    RecordLaunched,
    SendMessage,
    ShareOut,
    StoreObject,
    Tell,
    WriteAttempt,
)
from spotwarden.model.attempt import Attempt, AttemptState
from spotwarden.model.outcome import Done, Lost, Observed, Outcome, Rejected, Unanswered
from spotwarden.model.policy import Mode, Policy
from spotwarden.model.tick import Tick
from spotwarden.ports import Cloud, ConflictError, RejectedError, UnansweredError

DO = {**on_compute.DO, **on_bucket.DO, **on_people.DO}
AUDITED_TOGETHER, AUDITED_BYTES = 300, 512 * 1024
"""Actions in one object of the audit, and bytes that make it full: a create request may have half of them."""
NOTES = Tell | ShareOut | SendMessage | KeepWatch | EndWatch | RecordLaunched | FileCase | CloseCase


class Executor:
    """Carries out the actions of one sweep, one at a time, and writes down each of them."""

    def __init__(
        self, cloud: Cloud, layout: Layout, policy: Policy, tick: Tick, *, write_line: WriteLine = log
    ) -> None:
        self._context = ExecutorContext(cloud, layout, tick)
        self._policy = policy
        self._log = write_line
        self._counts = count(1)
        self._lock = Lock()
        self._held: list[bytes] | None = None
        self.written: list[Attempt] = []

    def apply(self, action: Change | Question) -> Outcome:
        """Do it, or in observe mode only say so; what goes wrong in a known way is an outcome."""
        if isinstance(action, Question):
            return self._ask(action)
        entry = self._do(action)
        self._write([record(self._context.tick, self._policy.version, entry)])
        return entry.outcome

    def _ask(self, question: Question) -> Outcome:
        return _outcome(lambda: on_compute.ASK[type(question)](self._context, question))

    def clear(self, actions: Sequence[ClearMarker]) -> Callable[[ClearMarker], Outcome]:
        """Clear many markers, a hundred in a call; gives what came of each, and raises what refused it."""
        if len(actions) == 1 or self._policy.mode is Mode.OBSERVE:
            return self.apply
        failed = on_bucket.clear_all(self._context, actions)
        refused = {node: error for node, error in failed.items() if not isinstance(error, UnansweredError)}
        entries = {
            action: self._said(action, _left_open(failed.get(action.node)))
            for action in actions
            if action.node not in refused
        }
        self._keep([*entries.values()])

        def came_of(action: ClearMarker) -> Outcome:
            if action.node in refused:
                raise refused[action.node]
            return entries[action].outcome

        return came_of

    @contextmanager
    def together(self) -> Iterator[Callable[[Change | Question], Outcome]]:
        """Carry out what belongs together; the audit keeps it as one object, whatever ends it, or as a few.

        Within another such block it belongs to that one.

        Only for what leaves its own trace where it is killed: a remedy stands in its case before it is sent,
        and a request in its attempt. Safe to use from several threads.
        """
        if self._held is not None:
            yield self._apply_together
            return
        self._held = []
        try:
            yield self._apply_together
        finally:
            held, self._held = self._held, None
            if held:
                self._write(held)

    def _apply_together(self, action: Change | Question) -> Outcome:
        if isinstance(action, Question):
            return self._ask(action)
        entry = self._do(action)
        self._keep([entry])
        return entry.outcome

    def _keep(self, entries: Sequence[AuditEntry]) -> None:
        """Write them down with what is done together; at once where nothing is, or where that is enough."""
        records = [record(self._context.tick, self._policy.version, entry) for entry in entries]
        with self._lock:
            if self._held is not None:
                self._held += records
                full = len(self._held) >= AUDITED_TOGETHER or sum(map(len, self._held)) >= AUDITED_BYTES
                records, self._held = (self._held, []) if full else ([], self._held)
        if records:
            self._write(records)

    def _do(self, action: Change) -> AuditEntry:
        return self._said(action, self._outcome_of(action))

    def _said(self, action: Change, outcome: Outcome) -> AuditEntry:
        say(self._log, self._context.tick, action, outcome)
        return AuditEntry(action, outcome)

    def _outcome_of(self, action: Change) -> Outcome:
        if self._policy.mode is Mode.OBSERVE and not _only_notes(action):
            return Observed()
        outcome = _outcome(lambda: DO[type(action)](self._context, action))
        if isinstance(action, WriteAttempt) and isinstance(outcome, Done):
            self.written.append(action.record)
        return outcome

    def _write(self, records: Sequence[bytes]) -> None:
        """Under the next number; a count's next is one step, so two threads never share one."""
        context = self._context
        author = Author(tick=context.tick, number=next(self._counts))
        write_down(context.cloud.store, context.layout, author, records)


def _left_open(error: Exception | None) -> Outcome:
    return Done() if error is None else Unanswered(detail=str(error))


def _only_notes(action: Change) -> bool:
    """Whether it only tells somebody, or writes down for ourselves what we saw: observing does that too."""
    if isinstance(action, WriteAttempt):
        # How a job, or a node of it, was ended is only seen once in the log: later it would look lost.
        over = action.record.state in {AttemptState.STOPPED, AttemptState.ENDED}
        noted = action.record.seen or bool(action.record.removed)
        return over or (noted and action.record.state is AttemptState.RUNNING)
    if isinstance(action, StoreObject):
        return not action.job
    return isinstance(action, NOTES)


def _outcome(do: Callable[[], Done]) -> Outcome:
    """What came of it; only what is no answer to anything rises."""
    try:
        return do()
    except ConflictError as conflict:
        return Lost(detail=str(conflict))
    except RejectedError as rejected:
        return Rejected(code=rejected.code, message=rejected.message)
    except UnansweredError as unanswered:
        return Unanswered(detail=str(unanswered))
