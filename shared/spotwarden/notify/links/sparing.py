"""Extend a job that no case is open about: how long it may then be up, or why it may not."""

from datetime import timedelta
from typing import cast

from spotwarden.model.answer import AnswerRefused
from spotwarden.model.facts import JobFacts
from spotwarden.model.policy import Policy
from spotwarden.model.precedence import limits
from spotwarden.model.rule_limits import JobCap
from spotwarden.model.values import LONGEST, written


def raised(facts: JobFacts, more: timedelta, policy: Policy) -> timedelta | AnswerRefused:
    """The job's own `max_runtime` with so much on top.

    Without a case only its own bound can be raised, and no further than the policy's: what goes beyond that
    is granted against a warning, so that somebody has seen what the job has used.
    """
    cap = cast("JobCap", limits(policy, "job_cap", owner=facts.owner, job_file=facts.file))
    own = facts.file.max_runtime
    if facts.file.problem:
        return AnswerRefused(why=f"its job.toml can't be read, so nothing was changed: {facts.file.problem}")
    if own is None and cap.max_runtime is None:
        return AnswerRefused(
            why="it has no time limit: neither its job.toml nor the policy has a max_runtime"
        )
    if own is None or (cap.max_runtime is not None and own >= cap.max_runtime):
        return AnswerRefused(
            why=f"the policy's limit is {written(cap.max_runtime)}. Once you are warned about it, the same"
            " command grants more time, up to job_cap.longest"
        )
    wanted = own + more
    if cap.max_runtime is not None and wanted > cap.max_runtime:
        room = written(cap.max_runtime - own)
        return AnswerRefused(why=f"its limit is {written(own)}, and the policy allows {room} more")
    if wanted > LONGEST:
        return AnswerRefused(
            why=f"{written(wanted)} is not a valid limit; it must be {written(LONGEST)} or less"
        )
    return wanted
