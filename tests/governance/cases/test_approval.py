"""A gang that is larger than the budget goes whole once ops approve it, and not at all before."""

import json
from datetime import timedelta

import msgspec
import pytest

from spotwarden.engine.executor.apply import Executor
from spotwarden.governance.answering import answered
from spotwarden.layout import CaseRecord
from spotwarden.model.answer import Accepted, Approve
from spotwarden.model.governance import GovernanceLimits, Remedy
from spotwarden.model.notice import Way
from spotwarden.model.rule_limits import IdleLimits
from spotwarden.model.tick import Tick
from spotwarden.notify.links.writing import write_answer
from tests.fakes.trouble import conflict, unanswered
from tests.governance.made_up import RULE, MadeUp, Said
from tests.notify.links.answer_web import Web

GRACE = timedelta(minutes=15)
STOP = IdleLimits(remedy=Remedy.STOP, grace=GRACE)
OPS = "ops@x.org"
NODES = 64
DAYS = timedelta(days=2)
"""Longer than a test waits between two sweeps."""


class Gang(MadeUp):
    """A gang of 64 nodes that is found as one case, and the budget of ten VMs of a sweep."""

    def __init__(self) -> None:
        super().__init__(STOP, governance=GovernanceLimits(blast_share=1.0, ops=OPS, outage=DAYS))
        self.key = "gang"
        first, *others = [self.vm(f"gang-{number:02}", said=None) for number in range(NODES)]
        self.first, self.others = first, others
        self.began = self.now
        self.said[first] = Said(ripe=True, since=self.began, beside=tuple(others))
        self.web = Web(self)

    def ask(self) -> None:
        """Warn of it, and let the grace go by."""
        self.sweep()
        self.sweep_for(minutes=15)

    def requests(self):
        """What ops were asked."""
        return [one for one in self.notices() if one.kind == "approval_needed"]

    def approve(self, notice=None):
        """Press the button of the newest request, or of this one."""
        return self.web.click(self.link(notice))

    def link(self, notice=None, to=OPS):
        """The link of a request."""
        return self.web.token(self.web.offer(Way.APPROVE, notice, to=to))

    def approval(self):
        """What is on record of it."""
        case = self.case(RULE, "gang")
        assert case is not None
        return case.approval

    def change(self, **changes):
        """What somebody else writes into the case, as a new generation of it."""
        self.change_case(RULE, "gang", **changes)


@pytest.fixture
def gang():
    """Due, and asked for."""
    world = Gang()
    world.ask()
    return world


def test_a_gang_beyond_the_budget_is_not_stopped_and_ops_are_asked_once(gang):
    """For a day: one request, by a mail to ops with a link, and nothing is done."""
    gang.sweep_for(hours=24)
    assert gang.asked() == []
    [request] = gang.requests()
    assert (request.owner, request.ways) == (OPS, (Way.APPROVE, Way.KEEP))
    assert "64 VMs should be stopped" in request.what
    assert "at most 10 VMs" in request.why
    assert "spotwarden cases approve idle gang" in request.todo
    assert "blast_radius" not in gang.kinds()


@pytest.mark.parametrize(("nodes", "asks"), [(10, False), (11, True)])
def test_the_owner_of_a_gang_reads_that_ops_must_allow_it_first(nodes, asks):
    """From the first warning on, where it is more than a sweep acts upon; the subject promises nothing."""
    world = Gang()
    world.said[world.first] = Said(ripe=True, since=world.began, beside=tuple(world.others[: nodes - 1]))
    world.sweep()
    [warning] = [notice for notice in world.notices() if notice.kind == "idle_warning"]
    assert warning.then.endswith(f"once ops approve it: that is {nodes} VMs at once") is asks
    assert warning.then.startswith("it will be stopped")


def test_the_log_says_once_that_an_approval_is_asked_for(capsys):
    """In the line on which the alert of Monitoring hangs."""
    gang = Gang()
    gang.ask()
    gang.sweep_for(hours=2)
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    [line] = [line for line in lines if line.get("kind") == "approval_needed"]
    assert line["severity"] == "WARNING"
    assert "idle gang" in line["message"]


def test_an_approved_gang_goes_whole(gang):
    """All sixty-four in the next sweep, told to its owner as ever, with who allowed it in the audit."""
    page = gang.approve()
    assert page.status_code == 200
    gang.sweep_for(minutes=5)
    assert sorted(target for _, target in gang.asked()) == sorted([gang.first, *gang.others])
    assert gang.kinds()[-1] == "idle_acted"
    [word] = [one for one in gang.web.audit() if one["action"] == "FileCase"]
    assert f"{OPS} allows us to stop its 64 VMs until" in word["why"]
    assert word["detail"]["case"]["approval"]["by"] == OPS


def test_a_gang_as_large_as_the_budget_needs_nobody():
    """Ten of ten, one case: as before."""
    world = Gang()
    world.said[world.first] = Said(ripe=True, since=world.began, beside=tuple(world.others[:9]))
    world.ask()
    assert len(world.asked()) == 10
    assert world.requests() == []


def test_an_approved_gang_takes_no_room_from_the_others(gang):
    """Ten other VMs that are due go in the same sweep."""
    gang.key = ""
    gang.said[gang.first] = Said(ripe=True, since=gang.began, beside=tuple(gang.others))
    gang.ask()
    singles = [gang.vm(f"single-{number}", said=Said(ripe=True)) for number in range(10)]
    gang.sweep()
    gang.wait(minutes=15)
    [*_, request] = gang.requests()
    gang.approve(request)
    gang.sweep()
    assert len(gang.asked()) == NODES + len(singles)


def test_the_page_says_what_would_be_done_and_who_may(gang):
    """How many VMs, what happens to them, and the same as a command; a look changes nothing."""
    page = gang.web.open(gang.link())
    for said in (
        "Approve the action on job?",
        "All 64 VMs will be stopped (its disks are kept) by the next sweep that still finds this problem.",
        "The approval lasts 24 h",
        "waits for approval",
        "no action until it is approved",
        "spotwarden cases approve idle gang",
        f"You answer as {OPS}",
    ):
        assert said in page.text
    assert "not before" not in page.text
    assert gang.approval().by == ""


def test_only_ops_approve_by_a_link(gang):
    """A link that was made for another address than that of ops now is refused, and nothing is written."""
    page = gang.web.click(gang.link(to="ada@x.org"))
    assert page.status_code == 403
    assert gang.approval().by == ""
    gang.set_policy(governance=GovernanceLimits(blast_share=1.0, ops="new-ops@x.org"))
    assert gang.approve().status_code == 403


def test_an_approval_expires(gang):
    """A day later, the calendar having been closed meanwhile, ops are asked anew, and nothing is done."""
    gang.approve()
    until = gang.approval().until
    assert until == gang.now + timedelta(days=1)
    gang.wait(days=1)
    gang.sweep()
    assert gang.asked() == []
    assert len(gang.requests()) == 2
    assert gang.approval().by == ""


def test_a_second_short_of_its_end_it_counts(gang):
    """The other side of the limit."""
    gang.approve()
    gang.wait(hours=23, minutes=59, seconds=59)
    gang.sweep()
    assert len(gang.asked()) == NODES


@pytest.mark.parametrize(
    ("changes", "asked"),
    [
        ({"since": timedelta(minutes=2)}, 2),
        ({"since": timedelta(seconds=59)}, 1),
        ({"since": -timedelta(hours=1)}, 1),
    ],
    ids=["began again", "the same", "longer than was known"],
)
def test_an_approval_counts_only_for_the_trouble_that_it_was_given_for(gang, changes, asked):
    """It was over and began anew: that is another finding."""
    gang.approve()
    gang.say(gang.first, since=gang.began + changes["since"])
    gang.sweep_for(minutes=20)
    assert len(gang.requests()) == asked
    assert bool(gang.asked()) is (asked == 1)


def test_an_approval_counts_only_for_the_vms_that_it_was_given_for(gang):
    """One more node has joined: nothing is done, and ops are asked anew."""
    gang.approve()
    late = gang.vm("gang-64", said=None)
    gang.say(gang.first, beside=(*gang.others, late))
    gang.sweep_for(minutes=20)
    assert gang.asked() == []
    assert len(gang.requests()) == 2


def test_an_approval_counts_for_those_that_are_left(gang):
    """Of the sixty-four some have gone by themselves."""
    gang.approve()
    gang.say(gang.first, beside=tuple(gang.others[:40]))
    gang.sweep_for(minutes=5)
    assert len(gang.asked()) == 41


def test_an_approval_does_not_turn_a_stop_into_a_delete(gang):
    """The policy has changed since: that is asked anew."""
    gang.approve()
    gang.limits = IdleLimits(remedy=Remedy.DELETE, grace=GRACE)
    gang.sweep_for(minutes=30)
    assert gang.asked() == []
    assert "deleted" in gang.requests()[-1].what


def test_the_link_of_an_older_request_is_refused(gang):
    """It has asked for other VMs: the page names the newest."""
    [old] = gang.requests()
    late = gang.vm("gang-64", said=None)
    gang.say(gang.first, beside=(*gang.others, late))
    gang.sweep_for(minutes=20)
    page = gang.approve(old)
    assert page.status_code == 409
    assert "There is a newer request" in page.text
    assert gang.approval().by == ""


def test_approving_twice_is_approving_once(gang):
    """By one link twice, and by two people: the first word counts, and does not grow."""
    [request] = gang.requests()
    gang.approve(request)
    given = gang.approval()
    gang.wait(hours=1)
    assert "answered this at" in gang.approve(request).text
    assert gang.approval() == given


def test_approving_what_has_ended_meanwhile_changes_nothing(gang):
    """The gang works again: the case is closed, and the page says so."""
    token = gang.link()
    del gang.said[gang.first]
    gang.sweep_for(minutes=5)
    page = gang.web.click(token)
    assert page.status_code == 404
    assert gang.case(RULE, "gang") is None
    gang.said[gang.first] = Said(ripe=True, since=gang.now, beside=tuple(gang.others))
    gang.ask()
    assert gang.web.click(token).status_code == 409
    gang.sweep_for(minutes=10)
    assert gang.asked() == []


def test_approving_what_was_stopped_already_is_too_late(gang):
    """The remedy was applied by somebody else's word."""
    token = gang.link()
    gang.change(
        approval=msgspec.structs.replace(gang.approval(), by="bob", at=gang.now, until=gang.now + GRACE)
    )
    gang.sweep_for(minutes=5)
    page = gang.web.click(token)
    assert page.status_code in {404, 409}
    assert len(gang.asked()) == NODES


def test_a_veto_takes_an_approval_back(gang):
    """Kept for an hour, it is warned of and asked for anew."""
    gang.approve()
    [request] = gang.requests()
    assert gang.web.click(gang.web.token(gang.web.offer(Way.KEEP, request, to=OPS))).status_code == 200
    assert gang.approval() is None
    gang.sweep_for(hours=12)
    assert gang.asked() == []
    assert len(gang.requests()) == 2


def test_what_is_kept_cannot_be_approved(gang):
    """Whoever keeps it is named."""
    gang.change(keep_until=gang.now + timedelta(hours=2), kept_by="ada@x.org")
    page = gang.approve()
    assert page.status_code == 409
    assert "by ada@x.org" in page.text


def test_an_exemption_takes_an_approval_back(gang):
    """A label put on after the approval: the case is closed, and with it what was approved."""
    gang.approve()
    gang.say(gang.first, exempt="a label that keeps it")
    gang.sweep_for(minutes=5)
    assert gang.asked() == []
    assert gang.case(RULE, "gang") is None
    gang.say(gang.first, exempt="")
    gang.sweep_for(hours=1)
    assert gang.asked() == []
    assert len(gang.requests()) == 2


def test_an_exemption_that_only_the_second_look_sees_holds(gang):
    """Between the approval and the remedy."""
    gang.approve()
    gang.then[gang.first] = Said(ripe=True, exempt="just now", since=gang.began, beside=tuple(gang.others))
    gang.sweep_for(minutes=5)
    assert gang.asked() == []


def during(world, act):
    """Let something happen between a sweep's last look and its remedy."""
    look = world._look

    def look_and_act(context, only):
        facts = look(context, only)
        if only:
            world._look = look
            act()
        return facts

    world._look = look_and_act


def test_an_approval_while_a_sweep_runs_is_kept_and_carried_out_by_the_next(gang):
    """The sweep that has not read it does nothing; what it writes does not swallow the approval."""
    token = gang.link()
    looked = gang._look

    def look_and_approve(context, only):
        facts = looked(context, only)
        gang._look = looked
        assert gang.web.click(token).status_code == 200
        return facts

    gang._look = look_and_approve
    gang.wait(minutes=25)
    gang.sweep()
    assert gang.asked() == []
    assert gang.approval().by == OPS
    gang.sweep_for(minutes=5)
    assert len(gang.asked()) == NODES


def test_a_veto_while_the_approved_sweep_runs_wins(gang):
    """Written after the last look: the sweep loses the case, and no node is touched."""
    gang.approve()
    [request] = gang.requests()
    keep = gang.web.token(gang.web.offer(Way.KEEP, request, to=OPS))
    during(gang, lambda: gang.web.click(keep))
    gang.sweep_for(minutes=5)
    assert gang.asked() == []


def test_an_approval_that_is_taken_back_before_the_second_look_counts_no_more(gang):
    """The second look reads the case again, and the word with it."""
    gang.approve()
    given, look = gang.approval(), gang._look

    def look_and_take_back(context, only):
        facts = look(context, only)
        if not only:
            name = gang.layout.build(CaseRecord(rule=RULE, key="gang"))
            assert gang.cloud.store.read(name) is not None
            gang.change(approval=msgspec.structs.replace(given, by="", at=None, until=None))
        return facts

    gang._look = look_and_take_back
    gang.sweep_for(minutes=5)
    assert gang.asked() == []


def test_a_click_that_meets_a_sweep_is_written_anew(gang):
    """The sweep wrote first, three times: the approval is read and written again."""
    gang.cloud.store.trouble.order("write", conflict(), about="cases/", times=3)
    assert gang.approve().status_code == 200
    assert gang.approval().by == OPS


def test_a_command_whose_write_was_lost_is_written_again(gang):
    """Nobody knows whether it was: the case is read, and does not say so."""
    gang.cloud.store.trouble.order("write", unanswered(after_work=False), about="cases/")
    store, layout = gang.cloud.ports().store, gang.layout
    tick = Tick(function="cases", sweep="c-1", now=gang.now)
    executor = Executor(gang.cloud.ports(), layout, gang.policy, tick)
    record = CaseRecord(rule=RULE, key="gang")

    def decide(case):
        return answered(case, Approve(by="bob"), policy=gang.policy, now=gang.now)

    assert isinstance(write_answer(store, layout, executor, record, decide), Accepted)
    assert gang.approval().by == "bob"


def test_a_request_whose_record_was_lost_is_the_same_request():
    """Told, then not written down: the next sweep tells the same notice, which is one."""
    world = Gang()
    world.sweep()
    world.sweep_for(minutes=10)
    world.cloud.store.trouble.order("write", unanswered(after_work=False), about="cases/")
    world.sweep_for(minutes=5)
    assert world.approval() is None
    world.sweep_for(minutes=15)
    assert len(world.requests()) == 1
    assert world.approval() is not None
