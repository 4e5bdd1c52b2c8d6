"""`answer_notice` from link to action: a page shows what a click would do, and one click does it, once."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from spotwarden.layout import JobFileName, UsedOffer
from spotwarden.model.case import CaseState
from spotwarden.model.governance import GovernanceLimits, Limits, Mode, Remedy
from spotwarden.model.instance import Status
from spotwarden.model.notice import Way
from spotwarden.model.rule_limits import JobCap
from tests.fakes.trouble import conflict, rejected, unanswered
from tests.fakes.world import load
from tests.governance.caps.cap_world import CapWorld
from tests.governance.made_up import RULE, MadeUp, Said
from tests.notify.links.answer_web import ADA, Web

HOUR = timedelta(hours=1)
GRACE = timedelta(minutes=30)


@pytest.fixture
def world():
    """A VM that a rule has warned of; half an hour later it would be stopped."""
    world = MadeUp(Limits(remedy=Remedy.STOP, grace=GRACE))
    world.id = world.vm("vm")
    world.sweep()
    return world


@pytest.fixture
def web(world):
    """Ada, with the message before her."""
    return Web(world)


@pytest.fixture
def capped():
    """A job that has been up for eight of its ten hours, and its owner; twelve is the most it may have."""
    cap = JobCap(max_runtime=10 * HOUR, longest=12 * HOUR, remedy=Remedy.STOP)
    world = CapWorld(load("cap_runtime"), job_cap=cap)
    world.id = world.job()
    world.sweep_for(hours=8, every=timedelta(minutes=20))
    return Web(world)


def case(web):
    """The VM's case as it stands."""
    return web.world.case(RULE, web.world.id)


def ripen(world):
    """Let the rule call for the remedy, with the grace just over."""
    world.say(world.id, ripe=True)
    world.wait(minutes=30)


# --- a look ---


def test_a_look_says_what_a_click_would_do_and_how_the_case_stands(web):
    """In plain words: until when, what was to come otherwise, which VM, as whom one answers."""
    page = web.open(web.token(Way.KEEP))
    assert page.status_code == 200
    for said in (
        "Keep vm?",
        "Spotwarden takes no action on vm until 17:00 UTC on Mon, Jan 5",
        "Keep for 8 h",
        "it will be stopped (its disks are kept) at 09:30 UTC on Mon, Jan 5 or later",
        "vm (us-central1-a)",
        f"You answer as {ADA}",
        f"spotwarden cases keep idle {web.world.id} --for 8h",
    ):
        assert said in page.text


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("way", [Way.KEEP, Way.STOP])
def test_looks_change_nothing_however_many(web, way, method):
    """Mail scanners and previews open every link, again and again, and neither write nor stop anything."""
    before = [(one.name, one.generation) for one in web.world.cloud.store.entries("")]
    token = web.token(way)
    for _ in range(200):
        assert web.open(token, method, Purpose="prefetch").status_code == 200
    assert [(one.name, one.generation) for one in web.world.cloud.store.entries("")] == before
    assert web.world.asked() == []


# --- keep ---


def test_a_click_keeps_a_vm(web):
    """It is not stopped while it is kept, and its owner stands in the case and in the audit."""
    token = web.token(Way.KEEP)
    page = web.click(token)
    assert (page.status_code, "Done" in page.text) == (200, True)
    kept = case(web)
    assert (kept.kept_by, kept.keep_until) == (ADA, web.now + 8 * HOUR)
    ripen(web.world)
    web.world.sweep_for(hours=7)
    assert web.world.asked() == []
    written = next(one for one in web.audit() if one["action"] == "FileCase")
    assert ADA in written["why"]
    assert written["function"] == "answer_notice"
    assert token not in str(web.audit())


def test_without_a_click_the_vm_is_stopped(web):
    """What the click above prevents; a look alone does not."""
    web.open(web.token(Way.KEEP))
    ripen(web.world)
    web.world.sweep()
    assert web.world.asked() == [("stop", web.world.id)]


def test_a_second_click_is_told_who_answered_and_when(web):
    """Hours later, too: nothing is done again, and the veto does not grow."""
    token = web.token(Way.KEEP)
    web.click(token)
    until = case(web).keep_until
    web.world.wait(hours=3)
    for page in (web.click(token), web.open(token)):
        assert page.status_code == 200
        assert f"{ADA} answered this at 09:00 UTC on Mon, Jan 5. Nothing was done again." in page.text
        assert "<form" not in page.text
    assert case(web).keep_until == until


def test_a_veto_is_no_longer_than_the_policy_lets_anybody_keep(web):
    """The message says eight hours; meanwhile the policy says two at most."""
    token = web.token(Way.KEEP)
    web.world.set_policy(governance=GovernanceLimits(ops="ops@x.org", longest_keep=2 * HOUR))
    assert "Keep for 2 h" in web.open(token).text
    web.click(token)
    assert case(web).keep_until == web.now + 2 * HOUR


@pytest.mark.parametrize(("kept", "until"), [(9, 9), (7, 8)], ids=["longer", "shorter"])
def test_a_click_takes_no_time_away(web, kept, until):
    """Where somebody keeps it for longer the page says so; where for less, the click gives more."""
    web.world.change_case(RULE, web.world.id, keep_until=web.now + kept * HOUR, kept_by="bob@x.org")
    page = web.click(web.token(Way.KEEP))
    assert ("is already kept for longer" in page.text) is (kept > 8)
    assert case(web).keep_until == web.now + until * HOUR


def test_two_people_may_answer_one_notice(web):
    """The owner and ops each have a link of their own."""
    web.click(web.token(Way.KEEP))
    web.world.wait(hours=1)
    web.click(web.token(web.offer(Way.KEEP, to="ops@x.org")))
    assert (case(web).kept_by, case(web).keep_until) == ("ops@x.org", web.now + 8 * HOUR)


def test_a_veto_counts_where_the_deployment_only_observes(web):
    """It is a person's word, not an action of ours."""
    web.world.set_policy(mode=Mode.OBSERVE)
    token = web.token(Way.KEEP)
    assert "but this deployment only observes" in web.open(token).text
    web.click(token)
    assert case(web).kept_by == ADA
    assert web.used(web.offer(Way.KEEP)).outcome


def test_a_click_wins_over_a_sweep_that_has_read_the_case(web, monkeypatch):
    """Given between a sweep's last look and its remedy: the sweep loses the case and does nothing."""
    ripen(web.world)
    look, token, clicks = web.world._look, web.token(Way.KEEP), []

    def look_and_click(context, only):
        facts = look(context, only)
        if only:
            clicks.append(web.click(token).status_code)
        return facts

    monkeypatch.setattr(web.world, "_look", look_and_click)
    web.world.sweep()
    assert clicks == [200]
    assert web.world.asked() == []
    assert case(web).kept_by == ADA


def test_a_click_that_meets_a_sweep_is_written_anew(web):
    """The sweep wrote first: the case is read again, and what the sweep wrote is kept."""
    web.world.cloud.store.trouble.order("write", conflict(), about="cases/", times=3)
    assert web.click(web.token(Way.KEEP)).status_code == 200
    assert (case(web).kept_by, len(case(web).warnings)) == (ADA, 1)


def test_a_click_after_the_remedy_was_written_down_says_that_it_may_be_too_late(web):
    """The stop may be on its way: the page names that, and so does the next look."""
    ripen(web.world)
    web.world.cloud.compute.trouble.order("stop", unanswered(after_work=False))
    web.world.sweep()
    assert case(web).state is CaseState.DUE
    token = web.token(Way.KEEP)
    assert "may already be under way" in web.open(token).text
    assert "may already be under way" in web.click(token).text
    assert "may already be under way" in web.click(token).text


def test_a_click_after_the_remedy_says_what_was_done(web):
    """And how to go on; nothing is written."""
    token = web.token(Way.KEEP)
    ripen(web.world)
    web.world.sweep()
    page = web.click(token)
    assert page.status_code == 409
    assert "It is too late: it was stopped at 09:30 UTC on Mon, Jan 5" in page.text
    assert web.used(web.offer(Way.KEEP)) is None


def test_a_click_on_a_case_that_is_closed_says_so(web):
    """The VM works again: there is nothing to keep it from."""
    token = web.token(Way.KEEP)
    web.world.said.clear()
    web.world.sweep()
    for page in (web.open(token), web.click(token)):
        assert page.status_code == 404
        assert "This case is closed" in page.text
        assert "spotwarden cases list" in page.text
    assert web.used(web.offer(Way.KEEP, web.told()[0])) is None


@pytest.mark.parametrize("way", [Way.KEEP, Way.STOP])
def test_a_message_about_an_earlier_case_answers_no_later_one(web, way):
    """It was closed and another was opened under the same name: that one has a message of its own."""
    token = web.token(way)
    web.world.said.clear()
    web.world.sweep()
    web.world.wait(minutes=5)
    web.world.said[web.world.id] = Said()
    web.world.sweep()
    for page in (web.open(token), web.click(token)):
        assert page.status_code == 409
        assert "opened at 09:05 UTC on Mon, Jan 5" in page.text
    assert case(web).keep_until is None
    assert web.world.asked() == []


# --- extend ---


def test_a_click_gives_a_job_more_time_once(capped):
    """Four hours, though the button is pressed three times; at ten hours it still runs."""
    capped.limits = replace(capped.limits, extend=2 * HOUR)
    token = capped.token(Way.EXTEND)
    assert "train may run 2 h longer" in capped.open(token).text
    for _ in range(3):
        assert capped.click(token).status_code == 200
    assert capped.world.case("job_cap", "train").extended == 2
    capped.world.sweep_for(hours=3)
    assert capped.world.asked() == []


def test_a_job_gets_no_more_than_the_policys_ceiling(capped):
    """Twelve hours in all: four more than ten are refused in words, and the message stays good for less."""
    token = capped.token(Way.EXTEND)
    for page in (capped.open(token), capped.click(token)):
        assert page.status_code == 409
        assert "It may run for 12 h in total; 2 h can still be granted" in page.text
    assert capped.world.case("job_cap", "train").extended == 0


def test_a_jobs_own_limit_is_heeded_by_a_click(capped):
    """What it says of itself is read at the click: eleven hours of its own leave one to grant."""
    capped.world.store(JobFileName(job="train"), b'max_runtime = "9h"\n')
    assert "3 h can still be granted" in capped.open(capped.token(Way.EXTEND)).text


# --- stop ---


def test_a_click_stops_a_vm_at_once(web):
    """No grace, no second warning: it is its owner's own word. The page says what becomes of it."""
    token = web.token(Way.STOP)
    page = web.open(token)
    assert "vm stops at once. Its disks are kept" in page.text
    assert web.world.asked() == []
    assert "vm is stopping; its disks are kept" in web.click(token).text
    assert web.world.asked() == [("stop", web.world.id)]
    written = next(one for one in web.audit() if one["action"] == "StopInstance")
    assert ADA in written["why"]


@pytest.mark.parametrize(
    ("ssds", "says", "done"),
    [
        (
            0,
            "Its disks are kept unless a preemption deletes it first. You can restart it.",
            "its disks are kept unless a preemption deletes it first",
        ),
        (
            1,
            "Its other disks are kept unless a preemption deletes it first. You can restart it.",
            "the data on its local SSDs is discarded",
        ),
    ],
)
def test_of_a_spot_vm_it_is_said_that_a_preemption_may_come_first(ssds, says, done):
    """Compute Engine deletes it, with its disks, even while it stops."""
    world = MadeUp(Limits(remedy=Remedy.STOP, grace=GRACE))
    world.vm("vm", provisioning="SPOT", local_ssds=ssds)
    world.sweep()
    web = Web(world)
    token = web.token(Way.STOP)
    assert says in web.open(token).text
    assert done in web.click(token).text


def test_a_vm_is_stopped_once_however_often_one_clicks(web):
    """A click hours later finds what the first one did."""
    token = web.token(Way.STOP)
    web.click(token)
    web.world.wait(hours=1)
    assert "Nothing was done again" in web.click(token).text
    assert len(web.world.asked()) == 1


def test_a_stop_is_not_held_up_by_the_blast_radius():
    """Nor by how many others stop theirs: fifteen people, fifteen VMs."""
    world = MadeUp(Limits(remedy=Remedy.STOP, grace=GRACE))
    vms = [world.vm(f"vm-{number}") for number in range(15)]
    world.sweep()
    web = Web(world)
    for notice in web.told():
        assert web.click(web.token(web.offer(Way.STOP, notice))).status_code == 200
    assert {one for _, one in world.asked()} == set(vms)


def test_nothing_is_stopped_where_the_deployment_only_observes(web):
    """The page says so, before and after, and names the command."""
    web.world.set_policy(mode=Mode.OBSERVE)
    token = web.token(Way.STOP)
    for page in (web.open(token), web.click(token)):
        assert page.status_code == 409
        assert "This deployment only observes" in page.text
        assert "gcloud compute instances stop vm --zone=us-central1-a" in page.text
    assert web.world.asked() == []
    assert web.used(web.offer(Way.STOP)) is None


def test_a_vm_that_is_no_jobs_is_never_touched(web):
    """Its case may say so only later."""
    token = web.token(Way.STOP)
    world_case = case(web)
    web.world.change_case(RULE, web.world.id, subject=replace(world_case.subject, ours=False))
    page = web.click(token)
    assert (page.status_code, "never touches" in page.text) == (409, True)
    assert web.world.asked() == []


def test_only_vms_that_the_message_named_are_stopped(web):
    """One that has joined the case since is not what its reader was asked about."""
    token = web.token(Way.STOP)
    subject = case(web).subject
    other = replace(subject.targets[0], id=web.world.vm("vm-2", None), name="vm-2")
    web.world.change_case(RULE, web.world.id, subject=replace(subject, targets=(*subject.targets, other)))
    web.click(token)
    assert web.world.asked() == [("stop", web.world.id)]


def test_vms_that_are_others_than_the_messages_are_not_stopped(web):
    """The job has moved: the case is about its new VM, of which another message tells."""
    token = web.token(Way.STOP)
    world_case = case(web)
    (target,) = world_case.subject.targets
    moved = replace(world_case.subject, targets=(replace(target, id="4000000000000000009"),))
    web.world.change_case(RULE, web.world.id, subject=moved)
    page = web.click(token)
    assert (page.status_code, "no longer about the VMs in the message" in page.text) == (409, True)
    assert web.world.asked() == []


def test_a_vm_that_does_not_run_need_not_be_stopped(web):
    """The page says so; the link stays unused."""
    token = web.token(Way.STOP)
    web.world.cloud.compute.vms.become(web.world.id, Status.TERMINATED)
    page = web.click(token)
    assert (page.status_code, "vm doesn&#39;t run" in page.text) == (200, True)
    assert web.world.asked() == []
    assert web.used(web.offer(Way.STOP)) is None


def test_who_stops_a_vm_that_a_preemption_stops_is_told_that_its_job_may_come_back(web):
    """The link is about VMs: it ends no job, and says which command does."""
    token = web.token(Way.STOP)
    web.world.cloud.compute.vms.become(web.world.id, Status.STOPPING)
    job = web.world.case(RULE, web.world.id).subject.job
    page = web.click(token)
    assert page.status_code == 200
    assert f"If Compute Engine preempted it, {job} restarts" in page.text
    assert f"spotwarden stop {job}" in page.text


def test_a_vm_in_a_zone_that_does_not_answer_may_run(web):
    """Nobody knows: nothing is done, and the page asks to try again."""
    token = web.token(Way.STOP)
    web.world.cloud.compute.hide("us-central1-a")
    page = web.click(token)
    assert (page.status_code, "list us-central1-a right now" in page.text) == (503, True)
    assert web.used(web.offer(Way.STOP)) is None


def with_local_ssds(web):
    """The VM has two."""
    vm = web.world.cloud.compute.vms.named("vm")
    vm.body = {**vm.body, "disks": [{"boot": True}, {"type": "SCRATCH"}, {"type": "SCRATCH"}]}


def test_a_vm_with_local_ssds_is_stopped_and_the_page_says_what_is_lost(web):
    """Before the click and after it, and so does the audit."""
    with_local_ssds(web)
    token = web.token(Way.STOP)
    assert "The data on its local SSDs is discarded" in web.open(token).text
    assert "the data on its local SSDs is discarded" in web.click(token).text
    assert web.world.asked() == [("stop", web.world.id)]
    (stop,) = [record for record in web.audit() if record["action"] == "StopInstance"]
    assert "the data on its local SSDs is discarded" in stop["why"]
    assert stop["detail"]["discard_local_ssd"] is True


def test_a_vm_with_local_ssds_is_left_to_its_owner_where_the_policy_keeps_their_data(web):
    """The page says how to do it by hand."""
    with_local_ssds(web)
    web.world.set_policy(governance=GovernanceLimits(ops="ops@x.org", discard_local_ssd=False))
    token = web.token(Way.STOP)
    for page in (web.open(token), web.click(token)):
        assert page.status_code == 409
        assert "gcloud compute instances stop vm --zone=us-central1-a --discard-local-ssd=true" in page.text
    assert web.world.asked() == []


def test_a_stop_that_compute_engine_refuses_is_told_in_its_words(web):
    """The link stays good: the next click tries again."""
    token = web.token(Way.STOP)
    web.world.cloud.compute.trouble.order("stop", rejected("resourceNotReady", "it is being started"))
    page = web.click(token)
    assert (page.status_code, "it is being started" in page.text) == (409, True)
    assert web.used(web.offer(Way.STOP)).outcome == ""
    assert "is stopping" in web.click(token).text
    assert web.world.asked() == [("stop", web.world.id)]


def test_a_stop_that_is_refused_of_one_vm_says_what_became_of_the_other():
    """Something was changed: the page names what, in either order. The next click is about the rest."""
    for refused in (0, 1):
        world = MadeUp(Limits(remedy=Remedy.STOP, grace=GRACE))
        other = world.vm("vm-b", None)
        vms = (world.vm("vm-a", Said(beside=(other,))), other)
        world.sweep()
        web = Web(world)
        token = web.token(Way.STOP)
        world.cloud.compute.trouble.order("stop", rejected("resourceNotReady", "not now"), about=vms[refused])
        page = web.click(token)
        assert (page.status_code, "not now" in page.text) == (409, True)
        assert "Nothing was changed" not in page.text
        assert f"{('vm-b', 'vm-a')[refused]} is stopping" in page.text
        assert f"{('vm-a', 'vm-b')[refused]} is stopping" in web.click(token).text
        assert sorted(world.asked()) == sorted(("stop", one) for one in vms)


def test_a_vm_that_is_gone_meanwhile_needs_no_stop(web):
    """Not found is what was wanted."""
    token = web.token(Way.STOP)
    web.world.cloud.compute.trouble.order("stop", rejected("notFound"))
    assert web.click(token).status_code == 200


# --- when the bucket does not answer, or holds rubbish ---


@pytest.mark.parametrize("about", ["cases/", "answers/"])
def test_a_bucket_that_does_not_answer_a_look_has_changed_nothing(web, about):
    """The page says that, with the status that a monitor understands."""
    web.world.cloud.store.trouble.order("read", unanswered(after_work=False), about=about, times=2)
    token = web.token(Way.KEEP)
    for page in (web.open(token), web.click(token)):
        assert page.status_code == 503
        assert "Nothing was changed" in page.text
    assert web.click(token).status_code == 200
    assert case(web).kept_by == ADA


@pytest.mark.parametrize("after_work", [False, True], ids=["not written", "written"])
@pytest.mark.parametrize("about", ["answers/", "cases/", "audit/"])
def test_a_click_of_which_nobody_knows_can_be_repeated(capped, about, after_work):
    """Whether what it wrote has arrived or not: the second click says what came of it, and extends once."""
    capped.limits = replace(capped.limits, extend=HOUR)
    token = capped.token(Way.EXTEND)
    capped.world.cloud.store.trouble.order("write", unanswered(after_work=after_work), about=about)
    page = capped.click(token)
    assert page.status_code in {200, 503}
    page = capped.click(token)
    assert page.status_code == 200
    assert capped.world.case("job_cap", "train").extended == 1
    assert capped.used(capped.offer(Way.EXTEND)).outcome


def test_a_broken_case_is_named_for_whoever_can_mend_it(web, capsys):
    """To the person and in the log, as an error."""
    token = web.token(Way.KEEP)
    name = f"spotwarden/cases/idle/{web.world.id}.json"
    web.world.cloud.store.write(name, b"{", generation=None)
    page = web.click(token)
    assert (page.status_code, name in page.text) == (500, True)
    assert '"severity":"ERROR"' in capsys.readouterr().out


def test_a_broken_record_of_an_answer_is_named_too(web):
    """Nobody knows whether it was given: nothing is done until somebody has looked."""
    name = web.world.layout.build(UsedOffer(entry=web.offer(Way.STOP).id))
    web.world.cloud.store.write(name, b"[]", generation=None)
    page = web.click(web.token(Way.STOP))
    assert (page.status_code, name in page.text) == (500, True)
    assert web.world.asked() == []
