"""The product, broken on purpose, one name at a time: each must be found out by a history or by a unit test.

A mutant takes away a promise, not a line: it says what is no longer so. `where` are the simulations that are
to find it (recovery's, the plane's, that of slices); `test` is the unit test that does, where no history can.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from msgspec.structs import replace

from spotwarden.model.action import CloseCase
from spotwarden.model.attempt import AttemptState
from spotwarden.model.case import Case
from spotwarden.model.instance import Status
from spotwarden.model.marker import MarkerBody
from spotwarden.model.outcome import Done, Rejected
from spotwarden.ports import Cloud
from spotwarden.recovery.observed.reopening import started_again
from spotwarden.recovery.steps.ending import stop
from tests.simulation.ground import as_it_is
from tests.simulation.mutations import MUTATIONS, Bent
from tests.simulation.patches import Make, Patch, becomes, gives, instead, turns

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
LATER = datetime(2100, 1, 1, tzinfo=UTC)
MONTH = timedelta(days=30)
NO_TIME = timedelta(0)


class Mutant(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is no longer so: a name that means something else, or ports that do.

    `test` is the unit test that finds out what histories cannot, by its file and its name. With a `story`
    each history of the plane tells that one.
    """

    patch: Patch | None = None
    wrap: Callable[[Cloud], Cloud] = as_it_is
    where: str = "both"
    test: str = ""
    story: str = ""

    def applied(self) -> AbstractContextManager[None]:
        """Have it so until the end of the block; ports are wrapped by whoever makes a world."""
        return self.patch.applied() if self.patch else nullcontext()


def _of(target: str, make: Make, where: str = "both") -> Mutant:
    return Mutant(patch=Patch(target=target, make=make), where=where)


def _without(*keys: str) -> Make:
    return becomes(lambda old: {key: value for key, value in old.items() if key not in keys})


def _limited(**limits: Any) -> Make:
    """The function hears of other limits of recovery (its second argument)."""
    return instead(
        lambda old, first, held, *rest, **named: old(first, replace(held, **limits), *rest, **named)
    )


def _first_failure_stops(old: Any, items: Any, do: Any, *rest: Any) -> Any:
    failed: list[Exception] = []

    def until(item: Any) -> Any:
        if failed:
            return None
        try:
            return do(item)
        except Exception as error:
            failed.append(error)
            raise

    return old(items, until, *rest)


def _no_second_look(old: Any, context: Any, rules: Any, steady: Any, only: Any = ()) -> Any:
    if not only:
        _LAST[context.tick.sweep] = old(context, rules, steady)
        return _LAST[context.tick.sweep]
    return _LAST[context.tick.sweep]


_LAST: dict[str, Any] = {}


def _of_single_nodes_only(old: Any, facts: Any, node: Any) -> Any:
    return old(facts, node) and len(facts.nodes) == 1


def _unread(old: Any, store: Any, layout: Any, entry: Any) -> Any:
    marker = old(store, layout, entry)
    return replace(marker, body=MarkerBody()) if hasattr(marker, "body") else marker


def _stopped_before(old: Any, facts: Any, newest: Any, tick: Any) -> Any:
    if newest.attempt.lost and any(past.attempt.state is AttemptState.STOPPED for past in facts.ledger):
        return stop(facts, newest, "a person has stopped it", tick)
    return old(facts, newest, tick)


def _of_the_others(told: Any, facts: Any, attempt: Any, gone: Any, tick: Any) -> Any:
    left = {node: vm_id for node, vm_id in attempt.wanted.items() if node not in gone}
    return replace(told(facts, attempt, gone, tick), evidence=left)


def _unnamed(notice: Any) -> Any:
    return replace(notice, evidence={**notice.evidence, "instance_id": ""})


def _as_done(old: Any, remediation: Any, outcome: Any) -> Any:
    return old(remediation, Done(at=None) if isinstance(outcome, Rejected) else outcome)


def _delivered(old: Any, store: Any, layout: Any, policy: Any, warned: Any) -> Any:
    del old, store, layout, policy
    return replace(warned, delivered=warned.at)


def _closed_silently(_old: Any, facts: Any, why: str, _policy: Any, _tick: Any) -> Any:
    return facts.filed and CloseCase(reason=why, case=facts.filed.case, generation=facts.filed.generation)


def _taken_back(old: Any, facts: Any, **rest: Any) -> Any:
    warned = facts.filed is not None and facts.filed.case.warnings
    return old(replace(facts, finding=None) if warned else facts, **rest)


def _counting(old: Any, case: Case, finding: Any) -> Any:
    del old, finding
    return tuple(warning for warning in case.warnings if warning.counts)


def _unkept(said: Any) -> Any:
    case = getattr(said, "case", None)
    return replace(said, case=replace(case, keep_until=None)) if isinstance(case, Case) else said


def _with_whole_operations(old: Any, instances: Any, operations: Any, **more: Any) -> Any:
    return old(instances, replace(operations, unreachable=()), **more)


RECOVERY: Mapping[str, Mutant] = {
    "a job that was stopped once is stopped when it is lost": _of(
        "recovery.placing:_removal", instead(_stopped_before)
    ),
    "who runs is told without its VM": _of("recovery.telling.notices:started", turns(_unnamed)),
    "a gang's removed node is told as the others": _of(
        "recovery.telling.notices:node_removed", instead(_of_the_others), "plane"
    ),
    "what is asked for again is not on record": _of("recovery.submission:ask_again", gives(None), "plane"),
    "a person's delete is not told from any other": _of(
        "recovery.instances.removal:on_purpose", gives(False)
    ),
    "a person's delete of a gang's node is not heard": _of(
        "recovery.instances.removal:on_purpose", instead(_of_single_nodes_only)
    ),
    "a person's word beside the attempt is Google's": _of(
        "recovery.instances.removal:by_person", gives(False)
    ),
    "log_delay is 0": _of("recovery.observed.fates:fate_of", _limited(log_delay=NO_TIME)),
    "settle is 0": _of("recovery.observed.fates:now_of", _limited(settle=NO_TIME)),
    "the look back before a place is asked is dropped": _of("recovery.placing:_undone", gives(None)),
    "a person's removal is not looked for while placing": _of("recovery.placing:_removal", gives(None)),
    "a removed node of a gang that bends is missed": _of(
        "recovery.gangs.lacking:unwish", gives(None), "plane"
    ),
    "a gang that bends is made anew at each loss": _of("recovery.gangs.bending:bend", gives(None), "plane"),
    "a move that is refused asks elsewhere": _of("recovery.steps.planned:stays", gives(False)),
    "markers are never cleared": _of("engine.executor.on_bucket:clear", gives(Done())),
    "ids are never registered": _of("engine.executor.on_bucket:register", gives(Done())),
    "what cannot be used is not kept": _of("engine.executor.on_bucket:quarantine", gives(Done())),
    "the list of open jobs is never written": _of("engine.executor.on_bucket:keep_watch", gives(Done())),
    "jobs are never taken off the list": _of("engine.executor.on_bucket:end_watch", gives(Done())),
    "a preemption is no loss": _of("recovery.observed.fates:KINDS", _without("compute.instances.preempted")),
    "a host error is no loss": _of("recovery.observed.fates:KINDS", _without("compute.instances.hostError")),
    "a delete is no word of a person": _of("recovery.observed.fates:KINDS", _without("delete")),
    "a stop is no word of a person": _of("recovery.observed.fates:KINDS", _without("stop")),
    "an instance has one life": _of(
        "recovery.observed.fates:_newest_life", instead(lambda _old, history: history)
    ),
    "a removal beside the lost VM is not seen": _of("recovery.instances.removal:removed_beside", gives(())),
    "hidden zones hide no removal": _of("recovery.instances.removal:may_be_removed", gives(False)),
    "the first look does not miss what the list of operations lacks": _of(
        "recovery.observed.shown:ShownInstances", instead(_with_whole_operations)
    ),
    "leases are not kept": _of("recovery.placing:is_held_by_another", gives(False)),
    "requests have no last moment": _of("recovery.placing:until", gives(None)),
    "a gang's survivors stay in the way": _of("recovery.requests.clearing:clear_the_way", gives(None)),
    "a gang is whole with one node": _of(
        "recovery.steps.finishing:whole", instead(lambda _old, _facts, ids, *_least: bool(ids))
    ),
    "the dead count as made": _of(
        "recovery.steps.finishing:made",
        instead(lambda old, facts, attempt, **_how: old(facts, attempt, dead=True)),
    ),
    "what a person started again is not seen": _of("recovery.steps.finishing:revived", gives({})),
    "answered markers are answered again": _of("recovery.steps.judging:answered", gives("")),
    "a closed job may be found lost": _of("recovery.steps.judging:closed", gives("")),
    "strays are left alone": _of("recovery.markers.strays:put_aside", gives(None)),
    "launches by hand are not seen": _of("recovery.adopting:adopt", gives(None)),
    "what runs is not brought up to date": _of("recovery.steps.settling:settle", gives(None)),
    "every open job looks whole": _of("recovery.folder.open_jobs:is_whole", gives(True)),
    "a VM that was started again has run on": _of(
        "recovery.folder.open_jobs:_runs_on",
        instead(lambda _old, vm, _since: vm is not None and vm.status.value == "RUNNING"),
    ),
    "an interrupted launch is not seen": _of("recovery.steps.begun:unrecorded", gives(None), "plane"),
    "an end is not taken back": _of("recovery.steps.begun:reopen", gives(()), "plane"),
    "a back-off lasts a month": _of("recovery.steps.asking:back_off_until", turns(lambda at: at + MONTH)),
    "no place is worth another try": _of("recovery.places.usable_places:hopeless", gives(True)),
    "a place is asked at once again": _of("recovery.places.choosing:_asked_lately", gives(False)),
    "a stopped VM is not started again": _of("recovery.places.usable_places:kept_instance", gives(None)),
    "all attempts ask with one id": _of(
        "recovery.requests.launching:request_id",
        instead(lambda old, job, _attempt, place, turn: old(job, 1, place, turn)),
    ),
    "our VMs carry no labels": _of(
        "recovery.requests.launching:stamp", instead(lambda _old, request, *_rest, **_named: request)
    ),
    "what a marker says is not read": _of("recovery.markers.reading:read_marker", instead(_unread)),
    "a lost VM without a marker is not missed": _of("recovery.instances.nodes:_expected", gives([])),
    "a loss before the first look is not seen": _of("recovery.instances.nodes:_unseen", gives([])),
    "VMs on no list are not looked at": _of("recovery.look.gather:_sighted", gives(())),
    "the log is read from now on": _of(
        "recovery.look.gather:_since", instead(lambda _old, _written, _watches, _swept, _turn, tick: tick.now)
    ),
    "a sweep that broke off has seen all": _of("recovery.sweep:_whole", gives(True)),
    "one bad item stops the others": _of("engine.fan_out:each", instead(_first_failure_stops)),
    "every loss is beyond the limits": _of(
        "recovery.kinds.bounds:exceeded", gives("it is beyond all limits")
    ),
    "attempts are told under one id": _of(
        "recovery.telling.notices:started", turns(lambda notice: replace(notice, id=f"started/{notice.job}"))
    ),
    "a job may be submitted while it runs": _of("recovery.submission:problem", gives(""), "plane"),
    "a job may be submitted beside its own VM": _of("recovery.submission:beside", gives(""), "plane"),
    "ids are registered blindly": _of(
        "engine.executor.on_bucket:register",
        instead(lambda old, context, action: old(context, replace(action, generation=None))),
    ),
    "a stop names nothing that it saw run": _of("recovery.folder.chain:_first_seen", gives({}), "plane"),
    "markers of a zone that is hidden are put aside": _of("recovery.look.job_look:_may_hide", gives(False)),
    "the rest of a gang that nobody saw is not looked at": _of(
        "recovery.instances.nodes:_unseen_beside", gives([])
    ),
    "a start opens only what was started": _of(
        "recovery.observed.reopening:is_open_again",
        instead(lambda _old, facts, node: started_again(facts, node)),
    ),
    "what was lost since the start is not counted": _of("recovery.adopting:_lost_since", gives({})),
    "a stop says nothing of what no sweep has seen": _of(
        "recovery.observed.reopening:is_before_stop", gives(False), "plane"
    ),
    "a stop that slept ends what was restarted since": _of(
        "notify.links.ending:restarted_since", gives(None), "plane"
    ),
    "a restart waits for no sweep": _of(
        "notify.links.carrying:look_at_rest", instead(lambda _old, look, *_rest: look()), "plane"
    ),
    "until all was seen the log is read for minutes": _of(
        "recovery.folder.open_jobs:log_from",
        instead(lambda old, watches, swept, _first: old(watches, swept, LATER)),
    ),
    "what is started again is not registered": _of(
        "recovery.steps.settling:_unregistered", gives(None), "plane"
    ),
    "what was launched by hand since the loss is not looked for": Mutant(
        patch=Patch(target="recovery.instances.nodes:_launched_anew", make=gives(())),
        where="plane",
        story="rerun",
    ),
}
GOVERNANCE: Mapping[str, Mutant] = {
    "a warning counts before it arrives": _of(
        "governance.cases.deliveries:_known", instead(_delivered), "plane"
    ),
    "no warning counts as arrived": _of("governance.cases.deliveries:arrived", gives(None), "plane"),
    "there is no grace": _of(
        "governance.cases.observation:graced", instead(lambda _old, one, _grace: one.delivered), "plane"
    ),
    "an old warning is as good as a new one": _of(
        "governance.cases.observation:fitting", instead(_counting), "plane"
    ),
    "nobody can keep anything": _of("governance.cases.observation:vetoed", gives(False), "plane"),
    "observing acts": _of("governance.cases.observation:enforced", gives(True), "plane"),
    "nobody is warned": _of("governance.cases.warning:warn", gives(None), "plane"),
    "no warning is needed": _of("governance.cases.warning:graces_of", gives([LONG_AGO]), "plane"),
    "the remedy may always be applied": _of("governance.cases.warning:may_act", gives(True), "plane"),
    "the remedy may never be applied": _of("governance.cases.warning:may_act", gives(False), "plane"),
    "the remedy is due at once": _of(
        "governance.cases.warning:soonest", instead(lambda _old, _case, _finding, tick: tick.now), "plane"
    ),
    "there is no second look": _of("governance.sweep:_look", instead(_no_second_look), "plane"),
    "a sweep may act on everything": _of("governance.cases.blast:allowed", gives(1_000_000), "plane"),
    "a sweep may act on nothing": _of("governance.cases.blast:allowed", gives(0), "plane"),
    "each end is doubted": _of("recovery.instances.doubted_end:doubt", gives("made up"), "plane"),
    "each warning is taken back": _of("governance.cases.escalation:next_step", instead(_taken_back), "plane"),
    "the end of a warning is not told": _of(
        "governance.cases.closing:clear", instead(_closed_silently), "plane"
    ),
    "a case is never closed": _of("governance.cases.closing:without_finding", gives(None), "plane"),
    "whatever is gone was our doing": _of("governance.cases.closing:_was_acted_upon", gives(True), "plane"),
    "a hidden zone hides nothing": _of("governance.cases.pairing:_hidden", gives(False), "plane"),
    "the remedy is always a delete": _of(
        "governance.cases.remedy:_remedy",
        instead(lambda old, case, *rest: old(replace(case, remedy=type(case.remedy)("delete")), *rest)),
        "plane",
    ),
    "a young VM is judged as any": _of("governance.orphans.rule:_is_young", gives(False), "plane"),
    "a VM of an attempt under way is an orphan": _of(
        "governance.orphans.faults:AT_WORK", becomes(lambda _old: frozenset()), "plane"
    ),
    "no VM is an orphan": _of("governance.orphans.rule:fault_of", gives(None), "plane"),
    "a replaced VM is no orphan": _of("governance.orphans.faults:_replaced", gives(None), "plane"),
    "heartbeats after the end say nothing": _of(
        "governance.orphans.faults:contradiction", gives(""), "plane"
    ),
    "an orphan was always one": _of("governance.orphans.rule:first_seen", gives(LONG_AGO), "plane"),
    "steps always stand still": _of("governance.stalls.rule:_steps_stand", gives(True), "plane"),
    "nothing ever works": _of("governance.stalls.rule:_at_work", gives(False), "plane"),
    "silence proves itself": _of("governance.stalls.rule:_proven", gives(True), "plane"),
    "our own silence counts": _of("governance.signals.steady:steady_since", gives(LONG_AGO), "plane"),
    "no GPU was ever busy": _of(
        "governance.idle.loads:_padded",
        turns(lambda values: [min(value, 1.0) if isinstance(value, float) else value for value in values]),
        "plane",
    ),
    "missing points are no gap": _of("governance.idle.loads:_gap", gives(""), "plane"),
    "idleness has lasted since the case began": _of(
        "governance.idle.rule:_began",
        instead(lambda _old, since, case, *_rest: min(case.since or since, since) if case else since),
        "plane",
    ),
    "every VM looks idle": _of("governance.idle.rule:_works", gives(False), "plane"),
    "no GPU is judged": _of("governance.idle.rule:_finding", gives(None), "plane"),
    "a remedy that was refused counts as applied": _of(
        "governance.cases.progress:_with", instead(_as_done), "plane"
    ),
    "half of a cap counts as all of it": _of(
        "governance.caps.job_measures:least", turns(lambda span: span and span / 2), "plane"
    ),
    "a VM is taken to be up for twice as long": _of(
        "governance.caps.jobs:_uptime", instead(lambda old, up, most: old(2 * up, most)), "plane"
    ),
    "an extension is only thanked for": _of(
        "governance.caps.job_measures:extended", instead(lambda _old, bound, *_rest: bound), "plane"
    ),
    "no job has a cap": _of("governance.caps.jobs:of_job", gives(None), "plane"),
    "everybody's cap is passed": _of("governance.caps.measures:is_full", gives(True), "plane"),
    "no VM is out of the policy": _of("governance.compliance.rule:_own", gives(()), "plane"),
    "nothing fits the policy": _of("governance.compliance.rule:_allows", gives(False), "plane"),
    "a wrong clock judges": _of("governance.signals.steady:check_clock", gives(None), "plane"),
}
NOTIFY: Mapping[str, Mutant] = {
    "what has arrived is sent again": _of(
        "notify.outbox.records:OutboxRecords.has_arrived", gives(False), "plane"
    ),
    "nobody stands in": _of("notify.outbox.recipients:stand_ins", gives(()), "plane"),
    "a late mail says what it would have": _of(
        "notify.outbox.late:as_of", instead(lambda _old, pending, *_rest: pending), "plane"
    ),
    "everything goes to ops": _of(
        "notify.outbox.recipients:addressed",
        instead(lambda old, notice, file, policy: old(replace(notice, owner="", job=""), file, policy)),
        "plane",
    ),
    "a notice is taken in and forgotten": _of(
        "notify.outbox.records:OutboxRecords.put", gives(None), "plane"
    ),
    "a stop leaves the job open": _of("notify.links.ending:_closing", gives(()), "plane"),
    "a stop stops nothing": _of("notify.links.ending:_meant", gives([]), "plane"),
    "a click on keep is only thanked for": _of("governance.answering:_keep", turns(_unkept), "plane"),
    "an answer counts each time": _of(
        "notify.links.taking:_claim", turns(lambda claim: claim._replace(used=None)), "plane"
    ),
}


def _operations_are_whole(cloud: Cloud) -> Cloud:
    """What the list of operations could not reach is not heard of."""

    def operations(since: Any) -> Any:
        return replace(cloud.compute.operations(since), unreachable=())

    return replace(cloud, compute=Bent(cloud.compute, operations=operations))


def _waiting(target: str, make: Make) -> Mutant:
    return Mutant(patch=Patch(target=target, make=make), where="plane", story="flex")


FLEX: Mapping[str, Mutant] = {
    "Flex-start: a stop leaves what waits": _waiting(
        "notify.links.ending:_deleted", instead(lambda _old, meant, *, delete: meant if delete else [])
    ),
    "Flex-start: what waits counts as stopped": _waiting(
        "recovery.observed.fates:KEPT", becomes(lambda old: {*old, Status.PENDING})
    ),
    "Flex-start: compliance judges what waits": _waiting(
        "governance.compliance.gather:UP", becomes(lambda old: old | {Status.PENDING})
    ),
    "Flex-start: no owner hears that it waits": _waiting(
        "recovery.steps.request_outcome:_in_line", gives(None)
    ),
    "Flex-start: no owner hears that what they launched waits": _waiting(
        "recovery.attempts:tell_if_pending", gives(None)
    ),
    "Flex-start: what is deleted in line is asked for again": _waiting(
        "recovery.steps.asking:_went_in_line", gives(value=False)
    ),
    "Flex-start: a person's delete in line is not heard": _waiting(
        "recovery.instances.removal:_removed_at_birth", gives(value=False)
    ),
    "Flex-start: the wait of what is just made is run time": _waiting(
        "recovery.adopting:_has_not_begun", gives(value=False)
    ),
    "Flex-start: a request that expired has run": _waiting(
        "recovery.steps.judging:_has_begun", gives(value=True)
    ),
    "Flex-start: what ran unseen has waited": _waiting(
        "recovery.kinds.flexible:expired_in_line", gives(value=True)
    ),
}
SLICES: Mapping[str, Mutant] = {
    f"slices: {name}": _of(target, make, "slices")
    for name, target, make in (
        ("the slice before is not deleted", "recovery.requests.slice_groups:clear_former", gives(None)),
        ("what is left of a job that is over stays", "recovery.requests.slice_groups:left_over", gives(None)),
        ("a refused try is not cleared away", "recovery.requests.slice_groups:clear", gives(None)),
        ("a slice that lacks a VM is never closed", "recovery.gangs.gang_wish:end_broken", gives(None)),
    )
}
PORTS: Mapping[str, Mutant] = {
    "the operations that a list lacks are not missed": Mutant(wrap=_operations_are_whole),
    **{name: Mutant(wrap=wrap) for name, wrap in MUTATIONS.items()},
}
_ALL: Mapping[str, Mutant] = {**PORTS, **RECOVERY, **GOVERNANCE, **NOTIFY, **FLEX, **SLICES}


JUDGED = "tests/simulation/plane/test_plane_judge.py::test_the_judge_sees_it"
TESTS: Mapping[str, str] = {
    "what was launched by hand since the loss is not looked for": (
        "tests/recovery/test_unseen.py"
        "::test_what_was_launched_by_hand_after_a_loss_and_deleted_unseen_ends_the_job"
    ),
    "what runs is not brought up to date": (
        "tests/recovery/test_adopting.py::test_an_entry_of_an_older_attempt_is_brought_up_to_date"
    ),
    "Flex-start: what ran unseen has waited": (
        "tests/recovery/kinds/test_flexible.py"
        "::test_what_compute_engine_deletes_at_another_moment_had_room_and_ran_to_its_limit"
    ),
    "Flex-start: a stop leaves what waits": (
        "tests/recovery/test_stop_command.py::test_a_vm_that_waits_for_capacity_is_deleted"
    ),
    "Flex-start: compliance judges what waits": (
        "tests/governance/compliance/test_sweep.py::test_a_vm_that_waits_for_room_is_not_judged_before_it_runs"
    ),
    "Flex-start: no owner hears that it waits": (
        "tests/recovery/kinds/test_flexible.py::test_the_owner_is_told_that_it_waits_only_while_it_does"
    ),
    "Flex-start: no owner hears that what they launched waits": (
        "tests/recovery/kinds/test_flexible.py::test_the_owner_of_a_vm_launched_by_hand_is_told_that_it_waits"
    ),
    "Flex-start: what is deleted in line is asked for again": (
        "tests/recovery/kinds/test_flexible.py"
        "::test_a_vm_that_went_in_line_without_a_word_is_asked_for_again_once_the_log_would_tell"
    ),
    "Flex-start: a person's delete in line is not heard": (
        "tests/recovery/kinds/test_flexible.py::test_a_persons_delete_of_a_vm_that_waits_for_room_closes_the_job"
    ),
    "Flex-start: the wait of what is just made is run time": (
        "tests/recovery/kinds/test_flexible.py"
        "::test_its_wait_is_no_run_time_where_it_is_seen_first_while_it_is_being_made"
    ),
    "Flex-start: a request that expired has run": (
        "tests/recovery/kinds/test_flexible.py::test_an_expired_request_of_its_developers_is_no_end_of_the_jobs_own"
    ),
    "markers of a zone that is hidden are put aside": (
        "tests/recovery/test_unseen.py::test_a_marker_is_put_aside_only_when_all_zones_are_shown"
    ),
    "the rest of a gang that nobody saw is not looked at": (
        "tests/recovery/test_unseen.py::test_a_gang_of_which_a_person_removed_a_node_unseen_is_closed"
    ),
    "a start opens only what was started": (
        "tests/recovery/observed/test_reopening.py"
        "::test_a_node_that_ran_when_a_person_opened_the_gang_and_was_preempted_unseen_brings_it_back"
    ),
    "what was lost since the start is not counted": (
        "tests/recovery/observed/test_reopening.py"
        "::test_a_node_that_is_removed_after_a_person_opened_the_gang_is_not_missed"
    ),
    "a stop says nothing of what no sweep has seen": (
        "tests/recovery/test_stop_command.py"
        "::test_a_job_whose_vm_was_lost_before_any_sweep_saw_it_is_stopped_all_the_same"
    ),
    "a stop that slept ends what was restarted since": (
        "tests/recovery/test_stop_command.py"
        "::test_a_stop_that_sleeps_leaves_alone_what_its_owner_has_restarted_since"
    ),
    "a restart waits for no sweep": (
        "tests/notify/links/test_restart.py::test_a_click_waits_for_the_sweep_that_is_at_work_on_the_attempt"
    ),
    "until all was seen the log is read for minutes": (
        "tests/recovery/test_unseen.py::test_what_is_lost_in_a_zone_that_no_sweep_has_ever_seen_comes_back"
    ),
    "a job that was stopped once is stopped when it is lost": JUDGED,
    "a remedy that was refused counts as applied": JUDGED,
    "an extension is only thanked for": JUDGED,
    "a VM is taken to be up for twice as long": JUDGED,
    "what is asked for again is not on record": (
        "tests/recovery/test_asked_again.py::test_the_newer_word_counts"
    ),
    "the dead count as made": "tests/recovery/test_attempts.py::test_another_instance_is_not_adopted",
    "no GPU is judged": ("tests/governance/idle/test_rule.py::test_a_gpu_below_the_threshold_idles"),
    "the first look does not miss what the list of operations lacks": (
        "tests/recovery/observed/test_shown.py::test_a_zone_that_either_list_lacks_is_hidden"
    ),
    "an old warning is as good as a new one": (
        "tests/governance/cases/test_warnings.py"
        "::test_who_was_told_that_nothing_will_be_done_is_warned_before_something_is"
    ),
    "a sweep may act on nothing": "tests/governance/cases/test_blast.py::test_two_rules_share_one_radius",
    "a person's delete is not told from any other": (
        "tests/recovery/instances/test_removal.py"
        "::test_who_removes_the_vm_that_has_outlived_its_successor_stops_the_job"
    ),
    "a person's word beside the attempt is Google's": (
        "tests/recovery/instances/test_removal.py"
        "::test_who_removes_the_vm_that_has_outlived_its_successor_stops_the_job"
    ),
    "log_delay is 0": (
        "tests/recovery/observed/test_fates.py::test_a_silent_log_gets_its_time_to_the_second"
    ),
    "settle is 0": (
        "tests/recovery/observed/test_fates.py::test_an_instance_settles_to_the_second_after_its_start_and_its_marker"
    ),
    "a person's removal is not looked for while placing": (
        "tests/recovery/instances/test_removal.py::test_so_does_who_removes_it_while_the_next_attempt_waits"
    ),
    "what cannot be used is not kept": (
        "tests/recovery/test_sweep.py::test_a_marker_that_cannot_be_used_is_put_aside_with_its_reason"
    ),
    "a host error is no loss": (
        "tests/recovery/observed/test_fates.py::test_each_kind_of_operation_means_what_it_means"
    ),
    "an instance has one life": (
        "tests/recovery/observed/test_fates.py::test_what_happened_before_the_newest_start_no_longer_counts"
    ),
    "a removal beside the lost VM is not seen": (
        "tests/recovery/instances/test_removal.py"
        "::test_who_removes_the_vm_that_has_outlived_its_successor_stops_the_job"
    ),
    "hidden zones hide no removal": (
        "tests/recovery/instances/test_removal.py::test_a_log_that_hides_a_zone_may_hide_the_removal"
    ),
    "what a person started again is not seen": (
        "tests/recovery/test_gangs.py::test_a_gang_that_runs_whole_was_not_lost"
    ),
    "strays are left alone": (
        "tests/recovery/test_forged_markers.py"
        "::test_a_marker_of_a_node_that_the_job_has_not_is_put_aside_and_told"
    ),
    "a VM that was started again has run on": (
        "tests/recovery/test_sweep.py::test_a_vm_that_runs_again_before_the_next_look_is_told_of"
    ),
    "an interrupted launch is not seen": (
        "tests/recovery/test_never_launched.py"
        "::test_a_marker_does_not_end_the_wait_for_a_launch_that_was_begun"
    ),
    "an end is not taken back": (
        "tests/notify/links/test_restart.py::test_a_job_that_ended_is_started_again_though_its_status_stands"
    ),
    "no place is worth another try": (
        "tests/recovery/test_other_places.py::test_when_no_zone_has_room_the_job_waits_and_comes_back"
    ),
    "a place is asked at once again": (
        "tests/recovery/test_other_places.py::test_a_stopped_vm_whose_zone_has_no_room_comes_back_elsewhere"
    ),
    "a stopped VM is not started again": (
        "tests/recovery/test_other_places.py::test_a_stopped_vm_is_started_in_place"
    ),
    "our VMs carry no labels": (
        "tests/recovery/requests/test_launching.py::test_a_launched_vm_is_told_its_job_attempt_and_try"
    ),
    "what a marker says is not read": (
        "tests/recovery/test_sweep.py::test_a_marker_that_cannot_be_used_is_put_aside_with_its_reason"
    ),
    "a loss before the first look is not seen": (
        "tests/recovery/test_lost_markers.py"
        "::test_a_launch_without_a_script_that_was_lost_unseen_is_the_jobs_if_it_registered"
    ),
    "a sweep that broke off has seen all": (
        "tests/recovery/test_lost_markers.py"
        "::test_what_a_sweep_saw_and_could_not_write_down_is_seen_by_the_next"
    ),
    "a job may be submitted while it runs": (
        "tests/recovery/test_interrupted.py::test_the_same_command_again_goes_on"
    ),
    "nobody can keep anything": (
        "tests/governance/cases/test_answers.py::test_a_veto_is_heeded_by_the_next_sweep"
    ),
    "observing acts": ("tests/governance/test_sweep.py::test_in_observe_mode_it_is_told_what_would_be_done"),
    "there is no second look": (
        "tests/governance/test_sweep.py::test_one_that_is_exempted_after_the_warning_is_left_alone"
    ),
    "a sweep may act on everything": (
        "tests/governance/cases/test_approval.py"
        "::test_a_gang_beyond_the_budget_is_not_stopped_and_ops_are_asked_once"
    ),
    "whatever is gone was our doing": (
        "tests/governance/cases/test_local_ssd.py"
        "::test_an_early_stop_that_somebody_keeps_after_its_job_was_closed_leaves_no_orphan"
    ),
    "requests have no last moment": (
        "tests/recovery/test_attempts.py::test_a_request_says_until_when_it_may_be_sent"
    ),
    "a preemption is no loss": (
        "tests/recovery/observed/test_fates.py::test_each_kind_of_operation_means_what_it_means"
    ),
    "all attempts ask with one id": (
        "tests/recovery/requests/test_launching.py::test_request_ids_differ_by_job_attempt_place_and_turn"
    ),
    "a move that is refused asks elsewhere": (
        "tests/recovery/test_moves.py::test_where_the_place_has_no_room_the_job_stays_as_the_next_attempt"
    ),
    "a case is never closed": (
        "tests/governance/test_sweep.py::test_a_case_is_closed_once_the_vm_has_stopped"
    ),
    "a hidden zone hides nothing": (
        "tests/governance/test_sweep.py::test_a_hidden_zone_neither_clears_nor_acts"
    ),
    "a young VM is judged as any": (
        "tests/governance/orphans/test_rule.py::test_no_vm_is_judged_before_it_is_old_enough"
    ),
    "a VM of an attempt under way is an orphan": (
        "tests/governance/orphans/test_rule.py::test_the_table_of_orphans"
    ),
    "a replaced VM is no orphan": ("tests/governance/orphans/test_rule.py::test_the_table_of_orphans"),
    "heartbeats after the end say nothing": (
        "tests/governance/orphans/test_rule.py::test_the_table_of_orphans"
    ),
    "an orphan was always one": (
        "tests/governance/orphans/test_rule.py::test_what_has_no_date_counts_from_when_it_was_first_seen"
    ),
    "steps always stand still": "tests/governance/stalls/test_rule.py::test_the_table_of_stalls",
    "nothing ever works": ("tests/governance/stalls/test_rule.py::test_the_table_of_stalls"),
    "silence proves itself": ("tests/governance/stalls/test_rule.py::test_the_table_of_stalls"),
    "our own silence counts": ("tests/governance/reap/test_sweep.py::test_our_own_outage_is_no_silence"),
    "missing points are no gap": (
        "tests/governance/idle/test_measure.py"
        "::test_idle_time_before_the_own_window_counts_as_far_as_it_was_seen"
    ),
    "idleness has lasted since the case began": (
        "tests/governance/idle/test_measure.py::test_a_case_counts_while_no_moment_went_unseen"
    ),
    "every VM looks idle": (
        "tests/governance/idle/test_measure.py::test_who_has_just_worked_needs_no_closer_look"
    ),
    "a wrong clock judges": ("tests/governance/test_sweep.py::test_a_clock_that_is_off_judges_nothing"),
    "nobody stands in": ("tests/notify/outbox/test_outbox.py::test_ops_stand_in_for_who_refuses"),
    "a stop stops nothing": (
        "tests/recovery/test_stop_command.py::test_a_running_job_is_closed_and_its_vms_go"
    ),
    "a click on keep is only thanked for": (
        "tests/governance/cases/test_answering.py::test_a_veto_holds_until_its_moment"
    ),
    "an answer counts each time": (
        "tests/notify/links/test_answer_notice.py::test_a_second_click_is_told_who_answered_and_when"
    ),
    "a person's delete of a gang's node is not heard": (
        "tests/recovery/test_gangs.py::test_a_gang_of_which_a_person_removed_a_node_is_stopped"
    ),
    "jobs are never taken off the list": (
        "tests/recovery/test_lost_markers.py::test_a_vm_that_its_owner_deletes_closes_the_job_and_its_watch"
    ),
    "one bad item stops the others": (
        "tests/recovery/markers/test_crowds.py::test_a_marker_without_an_answer_does_not_stop_the_others"
    ),
    "a job may be submitted beside its own VM": (
        "tests/recovery/test_submit_again.py::test_a_job_that_has_ended_is_not_launched_beside_its_vm"
    ),
    "ids are registered blindly": (
        "tests/recovery/folder/test_registering.py::test_a_sweep_that_slept_does_not_write_over_a_newer_vm"
    ),
    "a stop names nothing that it saw run": (
        "tests/recovery/test_stop_command.py"
        "::test_what_was_stopped_while_it_was_being_made_opens_the_job_when_it_is_started_again"
    ),
    "what is started again is not registered": (
        "tests/recovery/test_stop_command.py"
        "::test_what_was_stopped_while_it_was_being_made_opens_the_job_when_it_is_started_again"
    ),
    "a removed node of a gang that bends is missed": (
        "tests/recovery/gangs/test_bending.py::test_nothing_is_refilled_before_the_log_says_that_nobody_removed_it"
    ),
    "a gang that bends is made anew at each loss": (
        "tests/recovery/gangs/test_bending.py"
        "::test_the_survivors_of_a_lost_node_are_kept_and_named_by_the_next_record"
    ),
    "a stop leaves the job open": (
        "tests/recovery/test_stop_command.py::test_a_running_job_is_closed_and_its_vms_go"
    ),
}
"""The unit tests that find what takes histories longer, by their files and their names."""
MUTANTS: Mapping[str, Mutant] = {
    name: replace(mutant, test=TESTS.get(name, "")) for name, mutant in _ALL.items()
}
"""All of them."""
