"""A link that starts a job again: the next attempt is claimed by the click, and made by recovery's ticks."""

import re
from datetime import timedelta
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from spotwarden.engine.cache import GenerationCache
from spotwarden.layout import AttemptRecord, CreateScript, JobFileName, OpenJob, PlacementMemory, StatusCode
from spotwarden.model.attempt import Attempt, AttemptState, Lease
from spotwarden.model.governance import Remedy
from spotwarden.model.instance import Status
from spotwarden.model.notice import Notice, Severity, Way
from spotwarden.model.placement import PlacementRecord
from spotwarden.model.policy import Mode
from spotwarden.model.rule_limits import ComplianceLimits
from spotwarden.model.watch import Watch
from spotwarden.notify.links.carrying import AT_WORK_SECONDS
from spotwarden.notify.links.offers import offers
from tests.fakes.fate import ZONES
from tests.fakes.trouble import conflict
from tests.fakes.world import GANG, KEPT, SCRIPT
from tests.notify.links.answer_web import ADA, Web

US = "spotwarden@p.iam.gserviceaccount.com"


@pytest.fixture
def stopped(new_world):
    """Somebody in front of a job that was stopped, and that recovery has closed."""

    def build(script=SCRIPT, by=US):
        world = new_world("gang" if script is GANG else "test-vm", script)
        world.settle(2)
        world.cloud.compute.caller = by
        for number, one in enumerate(world.instances()):
            world.cloud.compute.stop(one.zone, one.id, f"{number:08}-0000-4000-8000-000000000000")
        world.cloud.compute.caller = US
        world.wait(minutes=5)
        world.settle(4)
        assert [one.state for one in world.attempts()] == [AttemptState.STOPPED]
        return Web(world)

    return build


def running(web):
    """The ids of the VMs that run."""
    return {one.name: one.id for one in web.world.instances() if one.status is Status.RUNNING}


@pytest.mark.parametrize("by", [US, ADA], ids=["by governance", "by its owner"])
@pytest.mark.parametrize("script", [SCRIPT, KEPT, GANG], ids=["deleted when taken", "stopped", "gang"])
def test_a_stopped_job_runs_again_after_a_click(stopped, script, by):
    """As the next attempt, all of it, though its owner stopped it himself: the click is the newer word."""
    web = stopped(script, by)
    assert web.click(web.token(Way.RESTART)).status_code == 200
    web.world.settle(4)
    second = web.world.attempts()[-1]
    assert (second.number, second.state, second.reason) == (3, AttemptState.RUNNING, f"{ADA} asked for it")
    assert running(web) == second.instances
    assert set(second.instances) == set(web.world.ids)


def test_a_stopped_vm_is_started_again_with_its_disks(stopped):
    """Rather than made anew: its id stays. The page says so first."""
    web = stopped()
    assert "Its stopped VM test-vm is started again" in web.open(web.token(Way.RESTART)).text
    web.click(web.token(Way.RESTART))
    web.world.settle(3)
    assert running(web) == web.world.ids


def interrupted(web):
    """A launch of the next attempt was begun, and nobody has heard of it since."""
    entry = Watch(job="test-vm", attempt=web.world.records()[-1].number + 1)
    web.world.store(OpenJob(job="test-vm"), msgspec.json.encode(entry))
    web.world.wait(minutes=15)
    web.world.settle(2)
    assert "was interrupted before it was on record" in web.world.records()[-1].reason


def test_so_it_is_after_a_launch_that_was_interrupted(stopped):
    """What was never launched has no VM: the stopped one is still the job's, and no second one is made."""
    web = stopped()
    interrupted(web)
    assert "Its stopped VM test-vm is started again" in web.open(web.token(Way.RESTART)).text
    web.click(web.token(Way.RESTART))
    web.world.settle(3)
    assert running(web) == web.world.ids


def test_a_person_who_starts_it_after_such_a_launch_has_the_job_again(stopped):
    """By its own id, as the next attempt."""
    web = stopped()
    interrupted(web)
    compute = web.world.cloud.compute
    compute.caller = ADA
    compute.start("us-central1-a", web.world.first, "00000009-0000-4000-8000-000000000000")
    compute.caller = US
    web.world.wait(minutes=1)
    web.world.settle(3)
    newest = web.world.records()[-1]
    assert (newest.state, newest.instances) == (AttemptState.RUNNING, web.world.ids)


@pytest.mark.parametrize("script", [SCRIPT, GANG], ids=["one VM", "gang"])
def test_a_suspended_vm_is_neither_started_nor_replaced(stopped, script):
    """Its owner is told how to resume it: a new attempt would go on from an older state."""
    web = stopped(script)
    vm = web.world.instances()[0]
    web.world.cloud.compute.vms.become(vm.id, Status.SUSPENDED)
    answer = web.click(web.token(Way.RESTART))
    assert f"gcloud compute instances resume {vm.name} --zone={vm.zone}" in answer.text
    assert "is suspended with its memory kept" in answer.text
    web.world.settle(3)
    assert len(web.world.attempts()) == 1
    assert running(web) == {}


def test_a_gangs_stopped_vms_are_made_anew(stopped):
    """They make one gang; the page says that the old ones go."""
    web = stopped(GANG)
    page = web.open(web.token(Way.RESTART))
    assert "Its stopped VMs gang-1, gang-2 are deleted first, then created again" in page.text
    web.click(web.token(Way.RESTART))
    web.world.settle(4)
    assert not set(running(web).values()) & set(web.world.ids.values())


def test_a_look_starts_nothing(stopped):
    """It tells how the job stands."""
    web = stopped()
    page = web.open(web.token(Way.RESTART))
    assert page.status_code == 200
    assert "test-vm restarts as attempt 3" in page.text
    assert "Its stop took the number 2: numbers count attempts and stops." in page.text
    assert "attempt 1 stopped" in page.text
    web.world.settle(3)
    assert len(web.world.attempts()) == 1


def test_a_job_is_started_once_however_often_one_clicks(stopped):
    """By one link, and by the one of another message about the same end."""
    web = stopped()
    token = web.token(Way.RESTART)
    for _ in range(3):
        assert web.click(token).status_code == 200
    other = web.click(web.token(web.offer(Way.RESTART, to="ops@x.org")))
    assert "Attempt 3 of test-vm has already been requested" in other.text
    web.world.settle(4)
    assert "Nothing was done again" in web.click(token).text
    assert len(web.world.attempts()) == 2


@pytest.mark.parametrize("there", [True, False])
def test_an_attempt_whose_vm_was_made_and_is_gone_is_not_said_to_be_on_its_way(stopped, there):
    """Its owner deleted it before its ids were written down; recovery is about to see that."""
    web = stopped()
    web.click(web.token(Way.RESTART))
    web.world.settle(4)
    newest = web.world.records()[-1]
    tried = replace(newest.tries[-1], operation="operation-1", error="")
    placing = replace(newest, state=AttemptState.PLACING, tries=(tried,), instances={})
    record = AttemptRecord(job=newest.job, attempt=newest.number)
    web.world.store(record, msgspec.json.encode(placing))
    for instance_id in () if there else running(web).values():
        web.world.cloud.compute.vms.remove(instance_id)
    answer = web.click(web.token(web.offer(Way.RESTART, to="ops@x.org")))
    wanted = "has already been requested" if there else "recovery is still checking why"
    assert wanted in answer.text


def test_a_job_that_ended_is_started_again_though_its_status_stands(stopped):
    """Its word is taken back before the claim, or recovery would close it at once."""
    web = stopped()
    web.world.ended("0")
    web.world.settle(2)
    token = web.token(Way.RESTART)
    assert "It ended with status 0. That status is removed first" in web.open(token).text
    web.click(token)
    web.world.settle(4)
    assert web.world.attempts()[-1].state is AttemptState.RUNNING
    assert web.world.cloud.store.read(web.world.layout.build(StatusCode(job="test-vm"))) is None


def test_a_job_that_runs_is_not_started(stopped):
    """Somebody has launched it by hand since: the page names the VM."""
    web = stopped()
    token = web.token(Way.RESTART)
    web.world.cloud.compute.delete("us-central1-a", web.world.first, "0" * 8 + "-0000-4000-8000-00000000000d")
    web.world.wait(minutes=5)
    web.world.launch_by_hand()
    web.world.settle(2)
    page = web.click(token)
    assert (page.status_code, "test-vm already runs" in page.text) == (200, True)
    assert web.used(web.offer(Way.RESTART)) is None


def test_an_old_message_starts_nothing_that_was_started_since(stopped):
    """It ran again and was stopped again: of that another message tells."""
    web = stopped()
    old = web.offer(Way.RESTART)
    web.click(web.token(web.offer(Way.RESTART, to="ops@x.org")))
    web.world.settle(4)
    (one,) = web.world.instances()
    web.world.cloud.compute.stop(one.zone, one.id, "0" * 8 + "-0000-4000-8000-00000000000e")
    web.world.wait(minutes=5)
    web.world.settle(4)
    page = web.click(web.token(old))
    assert (page.status_code, "It was restarted after that message" in page.text) == (409, True)
    assert len(web.world.attempts()) == 2
    assert web.click(web.token(web.offer(Way.RESTART))).status_code == 200


def test_a_job_whose_end_is_not_yet_on_record_waits(world):
    """Its VM is being stopped, then is: recovery has to look first. Soon it can be started."""
    web = Web(world)
    world.settle(2)
    world.cloud.compute.stop("us-central1-a", world.first, "0" * 8 + "-0000-4000-8000-00000000000f")
    offer = replace(_sample(web), job="test-vm")
    assert "is still being stopped" in web.click(web.token(offer)).text
    world.wait(minutes=5)
    page = web.click(web.token(offer))
    assert (page.status_code, "recovery is still checking why" in page.text) == (409, True)
    world.settle(4)
    assert web.click(web.token(offer)).status_code == 200


def test_a_job_that_nobody_launched_is_not_known(world):
    """Its folder may even be there: without a record there is nothing to repeat."""
    web = Web(world)
    page = web.click(web.token(_sample(web)))
    assert (page.status_code, "No launch of this job is on record" in page.text) == (404, True)
    assert len(world.attempts()) == 0


def test_a_job_without_a_script_cannot_be_started(stopped):
    """The page names the command that stores one."""
    web = stopped()
    name = web.world.layout.build(CreateScript(job="test-vm"))
    web.world.cloud.store.delete(name, generation=web.world.cloud.store.read(name).generation)
    page = web.click(web.token(Way.RESTART))
    assert (page.status_code, "It has no stored create script" in page.text) == (409, True)
    assert "spotwarden submit --again --job test-vm" in page.text


def test_a_job_that_has_used_up_its_time_is_not_started(stopped):
    """It says itself how long it may be up in all."""
    web = stopped()
    web.world.store(JobFileName(job="test-vm"), b'max_runtime = "1m"\n')
    page = web.click(web.token(Way.RESTART))
    assert (page.status_code, "It has used up" in page.text) == (409, True)
    assert len(web.world.attempts()) == 1


def test_nothing_is_started_where_the_deployment_only_observes(stopped):
    """Recovery would not carry it on."""
    web = stopped()
    web.world.policy = replace(web.world.policy, mode=Mode.OBSERVE)
    page = web.click(web.token(Way.RESTART))
    assert (page.status_code, "This deployment only observes" in page.text) == (409, True)


def test_a_list_that_may_hide_a_vm_starts_nothing(stopped):
    """It may run where nobody can see it."""
    web = stopped()
    web.world.cloud.compute.hide("us-central1-b")
    page = web.click(web.token(Way.RESTART))
    assert (page.status_code, "us-central1-b" in page.text) == (503, True)
    assert len(web.world.attempts()) == 1


def test_a_claim_that_another_was_first_with_is_his(stopped):
    """Two people click within the same second: one attempt, and both hear that it is on its way."""
    web = stopped()
    web.world.cloud.store.trouble.order("write", conflict(), about="attempts/2")
    first = web.click(web.token(Way.RESTART))
    assert first.status_code == 200
    assert len(web.world.attempts()) == 2


def test_a_claim_is_seen_by_recovery_though_a_sweep_is_just_ending_its_watch(stopped):
    """A sweep that read the ledger before the claim does not take the job off the list after it."""
    web = stopped()
    # Without a VM of its name nothing but the list leads to the job.
    web.world.cloud.compute.delete("us-central1-a", web.world.first, "0" * 8 + "-0000-4000-8000-00000000000d")
    web.world.wait(minutes=5)
    web.world.store(OpenJob(job="test-vm"), msgspec.json.encode({"job": "test-vm"}))
    token, store, entries = web.token(Way.RESTART), web.world.cloud.store, web.world.cloud.store.entries
    clicks = []

    def list_and_click(prefix, **said):
        found = entries(prefix, **said)
        if prefix.startswith("test-vm/") and not clicks:
            clicks.append(None)
            clicks[0] = web.click(token).status_code
        return found

    # A new process, which has not read the record before: what it says is in the list.
    GenerationCache.forget()
    store.entries = list_and_click
    web.world.sweep()
    store.entries = entries
    assert clicks == [200]
    web.world.settle(4)
    assert web.world.attempts()[-1].state is AttemptState.RUNNING


def _sample(web):
    """A message about a job of which nothing is known here."""
    notice = Notice(
        id="acted",
        kind="acted",
        severity=Severity.URGENT,
        job="unknown",
        at=web.now,
        what="",
        why="",
        ways=(Way.RESTART,),
    )
    return offers(notice, ADA, web.limits, web.now)[0]


@pytest.fixture
def waiting(new_world):
    """Somebody in front of a job that recovery brings back, and that waits for room; its VM is there."""
    world = new_world("test-vm", KEPT)
    world.settle(2)
    for zone in ZONES:
        world.cloud.compute.stock_out(zone)
    world.preempt()
    world.wait(minutes=1)
    while world.attempts()[-1].state is not AttemptState.BACKING_OFF:
        world.sweep()
        world.wait(seconds=10)
    return Web(world)


def offered(web):
    """What a message about the end of the job offers."""
    notice = Notice(
        id="closed/test-vm/1",
        kind="stopped",
        severity=Severity.WARNING,
        at=web.now,
        what="stopped",
        why="somebody stopped it",
        todo="restart it",
        job="test-vm",
        ways=(Way.RESTART,),
    )
    return web.token(web.offer(Way.RESTART, notice))


def back(web):
    """Whether the job runs once there is room again."""
    for zone in ZONES:
        web.world.cloud.compute.restock(zone)
    web.world.settle(16)
    return web.world.attempts()[-1].state is AttemptState.RUNNING and bool(running(web))


@pytest.mark.parametrize("clicks", [True, False])
def test_a_click_after_its_vm_was_deleted_brings_a_job_back_that_recovery_has_begun(waiting, clicks):
    """The click is the newer word, and on record as the command's is; without it the job is stopped."""
    waiting.world.cloud.compute.owner_deletes("test-vm")
    waiting.world.wait(minutes=1)
    if clicks:
        page = waiting.click(offered(waiting))
        assert (page.status_code, "test-vm is starting as attempt 2" in page.text) == (200, True)
    assert back(waiting) is clicks


def test_whoever_deletes_its_vm_after_the_click_has_stopped_it(waiting):
    """They thought better of it."""
    assert waiting.click(offered(waiting)).status_code == 200
    waiting.world.wait(minutes=1)
    waiting.world.cloud.compute.owner_deletes("test-vm")
    assert not back(waiting)


def test_a_look_at_a_job_that_recovery_has_begun_changes_nothing(waiting):
    """The page says what a click does."""
    page = waiting.open(offered(waiting))
    assert "It continues even if its VM was stopped or deleted before now" in page.text
    assert waiting.world.attempts()[-1].asked is None


@pytest.mark.parametrize("minutes", [None, 5])
def test_a_click_waits_for_the_sweep_that_is_at_work_on_the_attempt(waiting, minutes):
    """It would lose what it is about to write; after 20 s the click counts all the same."""
    newest, before = waiting.world.attempts()[-1], waiting.now
    lease = Lease(holder="a sweep", until=before + timedelta(minutes=minutes)) if minutes else None
    record = AttemptRecord(job="test-vm", attempt=newest.number)
    waiting.world.store(record, msgspec.json.encode(replace(newest, lease=lease)))
    assert waiting.click(offered(waiting)).status_code == 200
    assert waiting.world.attempts()[-1].asked == before
    assert (waiting.now - before == timedelta(seconds=AT_WORK_SECONDS)) is (minutes is not None)


def test_a_closed_job_whose_vm_runs_is_not_said_to_need_no_restart(running_on):
    """Nothing starts beside it: the page says who closed the job, and that its VM is to be stopped first."""
    answer = running_on.click(offered(running_on))
    assert "test-vm is over, and test-vm still runs" in answer.text
    assert "test-vm is closed (stopped by bob@example.com)" in answer.text
    assert "spotwarden stop test-vm\nspotwarden restart test-vm" in answer.text
    assert len(running_on.world.records()) == 2


@pytest.fixture
def running_on(new_world):
    """A job that somebody has closed, and whose VM goes on."""
    world = new_world()
    world.settle(2)
    closed = Attempt(
        job="test-vm",
        number=2,
        state=AttemptState.STOPPED,
        created=world.cloud.clock.now(),
        updated=world.cloud.clock.now(),
        reason="stopped by bob@example.com",
        replaces=world.ids,
    )
    world.store(AttemptRecord(job="test-vm", attempt=2), msgspec.json.encode(closed))
    return Web(world)


def test_a_stop_that_comes_between_the_click_and_its_claim_counts(stopped):
    """As for the command: it is the newer word. Whoever clicks again has read it, and starts the job."""
    web = stopped()
    world, token = web.world, web.token(Way.RESTART)
    now, write = world.cloud.clock.now(), world.cloud.store.write

    def first(name, data, **how):
        if name.endswith("attempts/3.json"):
            world.cloud.store.write = write
            word = Attempt(
                job="test-vm",
                number=3,
                state=AttemptState.STOPPED,
                created=now,
                updated=now,
                reason="stopped by bob@example.com",
                replaces=world.ids,
            )
            world.store(name, msgspec.json.encode(word))
        return write(name, data, **how)

    world.cloud.store.write = first
    answer = web.click(token)
    assert answer.status_code == 409
    assert "Attempt 3 was closed meanwhile: stopped by bob@example.com." in answer.text
    assert [one.state for one in world.records()][1:] == [AttemptState.STOPPED] * 2
    assert "attempt 4 is on record" in web.click(token).text


PRICES = Path(__file__).parents[3] / "infra/prices.toml"
CUSTOM = SCRIPT.replace(b"g2-standard-4", b"n4-custom-4-8192")
IN_TWO_REGIONS = {"a4-highgpu-8g": ("us-central1-b", "us-east4-b")}
OF_A4 = SCRIPT.replace(b"g2-standard-4", b"a4-highgpu-8g")


@pytest.mark.parametrize(
    ("limits", "script", "says"),
    [
        (
            {"provisioning": ("STANDARD",)},
            SCRIPT,
            "The policy would stop it: the provisioning model &#39;SPOT&#39; is not among STANDARD",
        ),
        ({"regions": ("europe-*",)}, SCRIPT, "the region &#39;us-central1&#39; is not among europe-*"),
        ({"machine_types": ("a2-*",)}, SCRIPT, "the machine type &#39;g2-standard-4&#39; is not among a2-*"),
    ],
)
def test_what_compliance_would_stop_is_not_restarted_by_a_link(stopped, limits, script, says):
    """As by the command: the page says why, and what to do; the click writes nothing down."""
    web = stopped(script)
    held = ComplianceLimits(remedy=Remedy.STOP, grace=timedelta(hours=2), **limits)
    token = web.token(Way.RESTART)
    web.world.policy = replace(web.world.policy, compliance=held)
    assert says in web.open(token).text
    answer = web.click(token)
    assert answer.status_code == 409
    assert says in answer.text
    assert "Nothing was changed." in answer.text
    assert "spotwarden submit --again --job test-vm create-instance.sh" in answer.text
    assert len(web.world.attempts()) == 1
    web.world.policy = replace(web.world.policy, compliance=replace(held, remedy=Remedy.NONE))
    assert "test-vm restarts" in web.click(token).text


@pytest.mark.parametrize(
    ("script", "file", "says"),
    [
        (CUSTOM, b"budget = 20\n", "n4-custom-4-8192 (SPOT) has no known price in us-central1, so we can"),
        (
            OF_A4,
            b'budget = 9\nladder = [{ model = "spot", up_to = "1h" }, { model = "flex" }]\n',
            "Leave FLEX_START out of `ladder` in job.toml.",
        ),
        (
            OF_A4,
            b"budget = 9\non_demand_after = 3\nplaces = ['us-east4']\n",
            "(STANDARD) has no known price in us-east4 (its on_demand_after asks for it)",
        ),
    ],
)
def test_a_budget_that_nobody_can_count_is_not_restarted_by_a_link(stopped, script, file, says):
    """Of all that the job may become, in the places that recovery remembers; the mended job.toml is read."""
    web = stopped(script)
    web.world.settings = replace(web.world.settings, prices_file=PRICES)
    for machine, zones in IN_TWO_REGIONS.items():
        record = PlacementRecord(machine=machine, offered=zones)
        web.world.store(PlacementMemory(machine=machine), msgspec.json.encode(record))
    web.world.store(JobFileName(job="test-vm"), file)
    answer = web.click(web.token(Way.RESTART))
    assert answer.status_code == 409
    assert says in answer.text
    assert "Or set `max_runtime` instead of `budget` in test-vm/metadata/job.toml" in answer.text
    assert len(web.world.attempts()) == 1
    web.world.store(JobFileName(job="test-vm"), b"max_runtime = '9h'\n")
    assert "is on record" in web.click(web.token(Way.RESTART)).text


def test_a_job_that_has_used_up_its_budget_is_not_restarted_by_a_link(stopped):
    """By the price table; once the budget is raised, it is."""
    web = stopped()
    web.world.settings = replace(web.world.settings, prices_file=PRICES)
    web.world.store(JobFileName(job="test-vm"), b"budget = 0.001\n")
    page = web.click(web.token(Way.RESTART))
    assert page.status_code == 409
    assert re.search(r"It has used \$0\.\d\d of its budget of \$0\.00\. Nothing was changed\.", page.text)
    assert "Raise `budget` in test-vm/metadata/job.toml" in page.text
    assert len(web.world.attempts()) == 1
    web.world.store(JobFileName(job="test-vm"), b"budget = 5\n")
    assert "is on record" in web.click(web.token(Way.RESTART)).text


def test_what_a_restart_by_link_leaves_out_is_said_on_its_page(stopped):
    """And that its cost is not known, and its deadline past: the button is there all the same."""
    web = stopped(CUSTOM)
    held = ComplianceLimits(remedy=Remedy.STOP, grace=timedelta(hours=2), provisioning=("SPOT",))
    web.world.settings = replace(web.world.settings, prices_file=PRICES)
    web.world.policy = replace(web.world.policy, compliance=held)
    web.world.store(JobFileName(job="test-vm"), b"deadline = 2020-01-01T00:00:00Z\n")
    page = web.open(web.token(Way.RESTART)).text
    assert "Its deadline asks for STANDARD, which is left out: compliance allows only SPOT." in page
    assert "this job&#39;s cost won&#39;t be known, nor count towards any limit." in page
    assert re.search(r"Its deadline, [^.]* is past\.", page)
    assert "<button" in page


def test_a_budget_where_no_prices_are_deployed_is_said_to_be_unchecked(stopped):
    """That is no reason to keep the job from its owner."""
    web = stopped(CUSTOM)
    web.world.store(JobFileName(job="test-vm"), b"budget = 20\n")
    web.world.settings = replace(web.world.settings, prices_file=Path("none.toml"))
    assert (
        "The budget can&#39;t be checked: none.toml cannot be read" in web.open(web.token(Way.RESTART)).text
    )
    assert "is on record" in web.click(web.token(Way.RESTART)).text
