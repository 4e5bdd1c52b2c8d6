"""One list for many jobs that are about to ask: a storm must not cost a list each."""

from collections.abc import Callable, Collection, Sequence

from spotwarden.model.action import Survey
from spotwarden.model.instance import Instances, Operations
from spotwarden.model.outcome import Done, Outcome, Unanswered
from spotwarden.ports import Compute, UnansweredError

ONE_BY_ONE = 3
"""Up to so many jobs are listed by their names; more make one list of everything cheaper."""


def survey_all(compute: Compute, surveys: Sequence[Survey]) -> Callable[[Survey], Outcome]:
    """Look once for all of them; gives each one's own outcome.

    The look begins after the last of them was asked for, so it is as new as its own would have been.
    """
    few = len(surveys) <= ONE_BY_ONE
    try:
        # Instances first: one that is gone by then has its insert in the newer log.
        lists = [_instances(compute, item) for item in surveys] if few else [compute.instances()]
        log = compute.operations(min(candidate.since for candidate in surveys))
    except UnansweredError as error:
        unanswered = Unanswered(detail=str(error))
        return lambda _survey: unanswered
    seen = Instances(
        items=tuple(match for found in lists for match in found.items),
        unreachable=tuple(sorted({scope for found in lists for scope in found.unreachable})),
    )
    return lambda survey: _answer(survey, seen, log)


def _answer(survey: Survey, seen: Instances, log: Operations) -> Done:
    mine = _of(survey, seen)
    return Done(instances=mine, operations=_since(survey, log, {instance.id for instance in mine.items}))


def _instances(compute: Compute, survey: Survey) -> Instances:
    return compute.instances(names=survey.names, job=survey.job)


def _of(survey: Survey, seen: Instances) -> Instances:
    mine = {
        instance.id: instance
        for instance in seen.items
        if instance.job == survey.job or instance.name in survey.names
    }
    return Instances(items=tuple(mine.values()), unreachable=seen.unreachable)


def _since(survey: Survey, log: Operations, ids: Collection[str]) -> Operations:
    """What was done to its instances, whatever they are called, and to what has one of the names."""
    mine = [
        operation
        for operation in log.items
        if operation.target_name in survey.names
        or operation.target_id in ids
        or operation.kind == "bulkInsert"
    ]
    items = tuple(item for item in mine if item.at is None or item.at >= survey.since)
    return Operations(items=items, unreachable=log.unreachable)
