"""The pure functions that decide what becomes of a case, in one value."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

import msgspec

from spotwarden.model.action import CaseStep
from spotwarden.model.case import Case, CaseFacts, Filed
from spotwarden.model.finding import Judged
from spotwarden.model.notice import Notice
from spotwarden.model.outcome import Outcome
from spotwarden.model.policy import Policy
from spotwarden.model.tick import Tick


class Portion(msgspec.Struct, frozen=True, kw_only=True):
    """What one sweep may do of what is due; `stopped` are the cases of rules that wanted too much."""

    allowed: tuple[Case, ...] = ()
    stopped: Mapping[str, tuple[Case, ...]] = {}


class Escalation(msgspec.Struct, frozen=True, kw_only=True):
    """Which finding is about which case, its next step, what is known after it; how much may be done.

    `too_many` is what ops are told where it may not.
    """

    paired: Callable[[Judged, Iterable[Filed]], Iterable[CaseFacts]]
    next_step: Callable[[CaseFacts, Policy, Tick], CaseStep | None]
    after: Callable[[CaseFacts, CaseStep, Outcome], CaseFacts | None]
    portion: Callable[[Sequence[str], Collection[Case], Policy, int], Portion]
    too_many: Callable[[str, Collection[Case], int, Policy, Tick], Notice]
