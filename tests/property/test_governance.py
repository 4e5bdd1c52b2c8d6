"""Promises of governance that hold in every history: whatever is found, fails, is doubled or comes late."""

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime, timedelta

import hypothesis.strategies as st
import msgspec
from hypothesis import given, settings

from spotwarden.governance.answering import answered
from spotwarden.governance.signals.steady import ClockError
from spotwarden.model.answer import Accepted, Keep
from spotwarden.model.case import CaseState
from spotwarden.model.finding import Reading
from spotwarden.model.governance import GovernanceLimits, Mode, Remedy
from spotwarden.model.rule_limits import IdleLimits
from spotwarden.ports.errors import UnansweredError
from tests.fakes.trouble import rejected, unanswered
from tests.governance.made_up import RULE, MadeUp, Said
from tests.long import examples

GRACE = timedelta(minutes=15)
VMS = 4
SAID = st.one_of(
    st.none(),
    st.builds(
        Said,
        reading=st.sampled_from(Reading),
        level=st.integers(1, 2),
        ripe=st.booleans(),
        exempt=st.sampled_from(["", "", "", "its label says so"]),
    ),
)
RIPE = st.just(Said(ripe=True))
VM = st.integers(0, VMS - 1)
WAITS = st.sampled_from([0, 30, 59, 60, 300, 899, 900, 901, 3600, 86_400])
GRACES = st.sampled_from([GRACE, GRACE, 2 * GRACE])
LIMITS = st.tuples(st.just("limits"), st.sampled_from([Remedy.NONE, Remedy.STOP, Remedy.STOP]), GRACES)
BLOW = st.one_of(
    st.tuples(st.just("say"), VM, SAID | RIPE),
    st.tuples(st.just("then"), VM, SAID | RIPE),
    st.tuples(st.just("keep"), VM, WAITS),
    st.tuples(st.just("wait"), WAITS),
    st.tuples(st.just("sweep")),
    st.tuples(st.just("sweep")),
    st.tuples(st.just("sweep")),
    st.tuples(st.just("mute"), st.integers(1, 3), st.booleans()),
    st.tuples(st.just("refuse"), st.integers(1, 3), st.booleans()),
    st.tuples(st.just("lose"), st.integers(1, 3), st.booleans()),
    st.tuples(st.just("hide")),
    st.tuples(st.just("show")),
    st.tuples(st.just("mode"), st.sampled_from(Mode)),
    LIMITS,
    st.tuples(st.just("clock"), st.sampled_from([-3, -1, 0, 0, 1, 3])),
)


SWEEPS = st.just([("sweep",)])
EPISODE = st.tuples(
    st.lists(LIMITS, max_size=1),
    st.lists(st.tuples(st.just("say"), VM, RIPE), max_size=VMS),
    SWEEPS,
    st.lists(BLOW, max_size=3),
    WAITS.map(lambda seconds: [("wait", seconds)]),
    st.lists(LIMITS | BLOW, max_size=2),
    SWEEPS,
)
"""Something is found, then things happen while its grace passes: so that most histories come to the point."""


class History:
    """A world with four VMs, and what holds after each of its sweeps."""

    def __init__(self) -> None:
        self.world = MadeUp(IdleLimits(remedy=Remedy.STOP, grace=GRACE))
        limits = GovernanceLimits(blast_count=2, blast_share=1.0, ops="ops@x.org")
        self.world.set_policy(governance=limits)
        self.vms = [self.world.vm(f"vm-{number}", said=None) for number in range(VMS)]
        self.kept: dict[str, datetime] = {}

    def blow(self, kind: str, *words: object) -> None:
        """Let one thing happen."""
        getattr(self, f"_{kind}")(*words)

    def _say(self, vm: int, said: Said | None) -> None:
        self._set(self.world.said, vm, said)

    def _then(self, vm: int, said: Said | None) -> None:
        self.world.then[self.vms[vm]] = said

    def _set(self, where: dict[str, Said], vm: int, said: Said | None) -> None:
        where.pop(self.vms[vm], None)
        if said is not None:
            where[self.vms[vm]] = said

    def _keep(self, vm: int, seconds: int) -> None:
        case = self.world.case(RULE, self.vms[vm])
        if case is None or case.state is CaseState.ACTED:
            return
        until = self.world.now + timedelta(seconds=seconds)
        answer = Keep(by="ada", until=until)
        said = answered(case, answer, policy=self.world.policy, now=self.world.now)
        if isinstance(said, Accepted):
            written = msgspec.structs.asdict(said.case)
            with suppress(UnansweredError):  # a write that was to be lost may be this one
                self.world.change_case(written.pop("rule"), self.vms[vm], **written)
            if self.world.case(RULE, self.vms[vm]) == said.case:
                self.kept[self.vms[vm]] = until

    def _wait(self, seconds: int) -> None:
        self.world.wait(seconds=seconds)

    def _mute(self, times: int, after: bool) -> None:
        self.world.cloud.notices.trouble.order("publish", unanswered(after_work=after), times=times)

    def _refuse(self, times: int, after: bool) -> None:
        failure = unanswered(after_work=True) if after else rejected("forbidden")
        self.world.cloud.compute.trouble.order("stop", failure, times=times)

    def _lose(self, times: int, after: bool) -> None:
        failure = unanswered(after_work=after)
        self.world.cloud.store.trouble.order("write", failure, about="cases/", times=times)

    def _hide(self) -> None:
        self.world.cloud.compute.hide("us-central1-a")

    def _show(self) -> None:
        self.world.cloud.compute.show("us-central1-a")

    def _mode(self, mode: Mode) -> None:
        self.world.set_policy(mode=mode)

    def _limits(self, remedy: Remedy, grace: timedelta) -> None:
        self.world.limits = IdleLimits(remedy=remedy, grace=grace)

    def _clock(self, minutes: int) -> None:
        self.world.skew = timedelta(minutes=minutes)

    def _sweep(self) -> None:
        before = len(self.world.asked())
        warned, looks = self._warned(), len(self.world.looks)
        try:
            self.world.sweep()
        except ClockError:
            assert abs(self.world.skew) > timedelta(minutes=2)
        stopped = [vm for _, vm in self.world.asked()[before:]]
        assert len(set(stopped)) == len(stopped)
        assert len(stopped) <= 2
        second = any(self.world.looks[looks:])
        for vm in stopped:
            assert second
            self._was_right(vm, warned.get(vm))

    def _warned(self) -> Mapping[str, list[tuple[datetime, datetime]]]:
        """When each owner was warned in earnest, and what would not be before when, by what was published."""
        told: dict[str, list[tuple[datetime, datetime]]] = {}
        for notice in self.world.notices():
            if notice.kind == "idle_warning" and notice.due is not None:
                told.setdefault(notice.evidence["instances"], []).append((notice.at, notice.due))
        return told

    def _was_right(self, vm: str, warned: list[tuple[datetime, datetime]] | None) -> None:
        """The promises, of a VM that was just stopped."""
        clock = self.world.now + self.world.skew
        assert warned
        kept = self.kept.get(vm)
        grace = self.world.limits.grace
        assert self.world.limits.remedy is Remedy.STOP
        assert any(clock - at >= grace and clock >= due for at, due in warned if kept is None or at >= kept)
        for said in (self.world.said[vm], {**self.world.said, **self.world.then}[vm]):
            assert said is not None
            assert said.reading is Reading.BAD
            assert said.ripe
            assert not said.exempt
        assert kept is None or clock >= kept
        assert self.world.policy.mode is Mode.ENFORCE

    def settle(self) -> None:
        """Everything is well again, and nobody keeps anything any more."""
        self.world.said.clear()
        self.world.then.clear()
        self._show()
        self.world.skew = timedelta(0)
        for kind in (self.world.cloud.notices, self.world.cloud.store, self.world.cloud.compute):
            kind.trouble.__init__()
        self.world.wait(days=2)
        self.world.sweep()
        self.world.wait(minutes=10)
        self.world.sweep()


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(EPISODE, min_size=1, max_size=6))
def test_no_history_breaks_a_promise(episodes: list[tuple[list[tuple[str, ...]], ...]]):
    """No act without a delivered warning the grace earlier; unknown, exempt, vetoed, too many: never."""
    history = History()
    for kind, *words in (blow for episode in episodes for part in episode for blow in part):
        history.blow(kind, *words)
    history.settle()
    assert [history.world.case(RULE, vm) for vm in history.vms] == [None] * VMS


@settings(max_examples=examples(50), deadline=None)
@given(st.lists(st.tuples(VM, RIPE | SAID, st.integers(1, 30)), max_size=8), st.lists(st.integers(0, 2)))
def test_doubled_ticks_change_nothing(said: list[tuple[int, Said | None, int]], doubles: list[int]):
    """A tick that comes twice or three times does what one does."""
    once, often = History(), History()
    for history, times in ((once, []), (often, doubles)):
        rest = iter(times)
        for vm, word, minutes in said:
            history.blow("say", vm, word)
            for _ in range(minutes // 5 + 1):
                history.world.wait(minutes=5)
                history.world.sweep()
                for _ in range(next(rest, 0)):
                    history.world.sweep()
    assert once.world.asked() == often.world.asked()
    assert once.world.kinds() == often.world.kinds()


@settings(max_examples=examples(40), deadline=None)
@given(st.integers(0, 90), st.integers(0, 90))
def test_a_day_without_ticks_costs_only_time_and_a_new_warning(before: int, after: int):
    """The same is done, later; who was warned before it is warned anew, and has the whole grace."""
    history = History()
    history.blow("say", 0, Said(ripe=True))
    history.world.sweep_for(minutes=before)
    told_before = history.world.kinds() == ["idle_warning"]
    history.world.wait(days=1)
    history.world.sweep_for(minutes=after)
    history.world.sweep_for(minutes=60)
    assert history.world.asked() == [("stop", history.vms[0])]
    assert history.world.kinds() == ["idle_warning"] * (1 + told_before) + ["idle_acted"]
