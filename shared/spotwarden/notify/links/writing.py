"""A person's answer to a case, written so that it wins over a sweep under way."""

from collections.abc import Callable

from spotwarden import typed
from spotwarden.engine.decoding import decoded
from spotwarden.engine.executor import Executor
from spotwarden.layout import CaseRecord, Layout
from spotwarden.model.action import FileCase
from spotwarden.model.answer import Accepted, Answered, AnswerRefused
from spotwarden.model.case import Case
from spotwarden.model.outcome import Done, Lost, Unanswered
from spotwarden.ports import Store

typed.prepare(Case)

TRIES = 10
"""How often a case that changes under our hands is read anew; a sweep changes one a few times at most."""


def write_answer(
    store: Store, layout: Layout, executor: Executor, record: CaseRecord, decide: Callable[[Case], Answered]
) -> Answered:
    """Answer the case of this record; whoever changed it meanwhile is answered, too.

    A sweep writes down what it is about to do under the generation that it has read: it does not act on a
    case that was answered since. `BrokenError` where the record is broken.
    """
    name = layout.build(record)
    tried: Answered | None = None
    for _ in range(TRIES):
        stored = store.read(name)
        if stored is None:
            return AnswerRefused(why="there is no such open case; it may have been cleared")
        case = decoded(name, stored.data, Case)
        if isinstance(tried, Accepted) and _said(case) == _said(tried.case):
            return tried
        answer = decide(case)
        if isinstance(answer, AnswerRefused) or answer.case == case:
            return answer
        step = FileCase(reason=answer.reason, case=answer.case, generation=stored.generation)
        match executor.apply(step):
            case Done():
                return answer
            case Lost():
                continue
            case Unanswered():
                # It may have been written: extending twice would be once too often.
                tried = answer
            case other:
                return AnswerRefused(why=f"it could not be written: {other}")
    return AnswerRefused(why="it could not be written: it changes too fast, or the bucket does not answer")


def _said(case: Case) -> tuple[object, ...]:
    """What only people write into a case."""
    return (case.keep_until, case.kept_by, case.kept_why, case.extended, case.answered, case.approval)
