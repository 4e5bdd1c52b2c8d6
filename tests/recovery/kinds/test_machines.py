"""Machine types that a job's owner allows besides its script's: when and where they are asked for."""

from datetime import timedelta

import msgspec
import pytest
from msgspec.structs import replace

from spotwarden.create_script.request.cache import MOST_MACHINES, with_machines, with_places
from spotwarden.layout import CreateScript, JobFileName
from spotwarden.model.action import LaunchInstances
from spotwarden.model.attempt import AttemptState, Try
from spotwarden.model.facts import JobFacts
from spotwarden.model.governance import Mode, Remedy
from spotwarden.model.jobfile import JobFile
from spotwarden.model.ladder import Rung, VmModel
from spotwarden.model.limits import AdmissionLimits, PlacementLimits
from spotwarden.model.placement import PlaceEvent, PlacementRecord, ZoneAvailability
from spotwarden.model.rule_limits import ComplianceLimits
from spotwarden.recovery.kinds.admission import admit_others
from spotwarden.recovery.kinds.machines import split_key
from spotwarden.recovery.observed.fates import Fate
from spotwarden.recovery.places import choosing, usable_places
from spotwarden.recovery.places.news import news
from tests.recovery.facts import HOME, NOW

OTHER, THIRD = "a2-highgpu-1g", "g2-standard-8"
NEXT = "us-central1-b"
ELSEWHERE = "us-east1-b"
SHORT = "ZONE_RESOURCE_POOL_EXHAUSTED: [resource_availability]"
SECOND, HOUR = timedelta(seconds=1), timedelta(hours=1)


def refused(place=HOME, machine="", error=SHORT, **more) -> Try:
    """A try that was refused a second ago."""
    return Try(place=place, request_id="r", at=NOW - SECOND, error=error, machine=machine, **more)


@pytest.fixture
def waiting(some):
    """A job of two zones, and of other machine types, whose second attempt was refused so."""

    def build(*tries: Try, machines=(OTHER, THIRD), **facts) -> JobFacts:
        state = AttemptState.BACKING_OFF if tries else AttemptState.CLAIMED
        attempt = some.attempt(2, state, tries=tries, created=NOW - facts.pop("waited", timedelta(0)))
        own = replace(some.launch(NEXT), machine="g2-standard-4")
        others = tuple(replace(some.launch(NEXT), machine=machine) for machine in machines)
        return some.job(
            ledger=(some.attempt(instances={"test-vm": "1001"}), attempt),
            nodes=(),
            launch=replace(own, instead=others),
            **facts,
        )

    return build


def chosen(facts, policy, tick, *, waited=False):
    """The machine type that is asked for next, "" for the script's own, and where; None for nothing."""
    found = choosing.choose(facts, facts.newest, policy, tick, waited=waited)
    return found and (found.machine, found.place)


BOTH = (refused(HOME), refused(NEXT))


def test_its_own_machine_is_asked_for_everywhere_before_another(waiting, policy, tick):
    """Then the others, each in all its places, as its owner wrote them."""
    assert chosen(waiting(), policy, tick) == ("", HOME)
    assert chosen(waiting(refused()), policy, tick) == ("", NEXT)
    assert chosen(waiting(*BOTH), policy, tick) == (OTHER, HOME)
    assert chosen(waiting(*BOTH, refused(HOME, OTHER)), policy, tick) == (OTHER, NEXT)
    every = (*BOTH, refused(HOME, OTHER), refused(NEXT, OTHER))
    assert chosen(waiting(*every), policy, tick) == (THIRD, HOME)


def test_without_other_machines_the_job_backs_off(waiting, policy, tick):
    """As before."""
    assert chosen(waiting(*BOTH, machines=()), policy, tick) is None


def test_after_a_back_off_what_was_asked_longest_ago_comes_first(waiting, policy, tick):
    """Whichever machine it is."""
    old = [refused(place, machine) for machine in ("", OTHER, THIRD) for place in (HOME, NEXT)]
    tries = [replace(tried, at=NOW - timedelta(minutes=9 - number)) for number, tried in enumerate(old)]
    assert chosen(waiting(*tries), policy, tick) is None
    assert chosen(waiting(*tries), policy, tick, waited=True) == ("", HOME)
    assert chosen(waiting(*tries[1:]), policy, tick, waited=True) == ("", HOME)
    assert chosen(waiting(*tries[2:], *tries[:2]), policy, tick, waited=True) == ("", HOME)


def test_what_is_remembered_is_remembered_of_a_machine(waiting, policy, tick):
    """A zone without room for one may have room for the other."""
    out = ZoneAvailability(out=NOW - SECOND)
    places = PlacementRecord(machine="g2-standard-4", availability={HOME: out, NEXT: out})
    assert chosen(waiting(places=places), policy, tick) == (OTHER, HOME)
    other = {OTHER: PlacementRecord(machine=OTHER, availability={HOME: out})}
    assert chosen(waiting(places=places, other_places=other), policy, tick) == (OTHER, NEXT)


def test_a_quota_is_that_of_a_machine(waiting, policy, tick):
    """Google counts GPUs by their type."""
    quota = refused(HOME, error="quotaExceeded: NVIDIA_L4_GPUS")
    assert chosen(waiting(quota), policy, tick) == (OTHER, HOME)


def test_a_refusal_for_good_is_of_that_machine_alone(waiting, policy, tick):
    """The job is given up once all of them are."""
    bad = "badRequest: [pd-ssd, x] features are not compatible for creating instance."
    own = (refused(HOME, error=bad), refused(NEXT, error=bad))
    facts = waiting(*own)
    assert chosen(facts, policy, tick, waited=True) == (OTHER, HOME)
    assert not usable_places.hopeless(facts, facts.newest, policy)
    others = [refused(place, machine, bad) for machine in (OTHER, THIRD) for place in (HOME, NEXT)]
    facts = waiting(*own, *others)
    assert usable_places.hopeless(facts, facts.newest, policy)
    assert chosen(facts, policy, tick, waited=True) is None


def test_a_ladder_goes_through_all_machines_before_the_next_kind(waiting, policy, tick):
    """Spot on any of them is what its owner wants first."""
    ladder = (Rung(model=VmModel.SPOT, up_to=HOUR), Rung(model=VmModel.STANDARD))
    file = JobFile(ladder=ladder)
    spot = [
        refused(place, machine, model=VmModel.SPOT)
        for machine in ("", OTHER, THIRD)
        for place in (HOME, NEXT)
    ]
    facts = waiting(*spot[:4], file=file)
    assert chosen(facts, policy, tick) == (THIRD, HOME)
    later = waiting(*spot, file=file, waited=HOUR)
    found = choosing.choose(later, later.newest, policy, tick, waited=False)
    assert (found.model, found.machine, found.place) == (VmModel.STANDARD, "", HOME)


def test_zones_named_as_having_room_are_those_of_that_machine(waiting, policy, tick):
    """What a stockout of one says is not asked of another."""
    named = f"{SHORT} zonesAvailable={NEXT}"
    out = (refused(HOME, error=f"{SHORT} zonesAvailable=us-east1-b"), refused(NEXT))
    assert chosen(waiting(*out), policy, tick) == (OTHER, HOME)
    third = (*out, refused(HOME, OTHER, named), refused(NEXT, OTHER))
    assert chosen(waiting(*third), policy, tick) == (THIRD, HOME)


def test_news_is_of_the_machine_that_was_asked_for(some, tick):
    """Stockout, success and loss."""

    def told(record):
        return [(item.event, item.machine) for item in news(record.attempt, tick)]

    out = some.attempt(2, AttemptState.BACKING_OFF, tries=(refused(HOME), refused(HOME, OTHER)))
    assert told(out) == [(PlaceEvent.STOCKOUT, ""), (PlaceEvent.STOCKOUT, OTHER)]
    gave = some.attempt(2, AttemptState.RUNNING, tries=(refused(HOME, OTHER, ""),))
    assert told(gave) == [(PlaceEvent.GAVE, OTHER)]
    lost = some.attempt(3, AttemptState.CLAIMED, lost_in=HOME, lost_on=OTHER, fate=Fate.PREEMPTED.value)
    assert told(lost) == [(PlaceEvent.PREEMPTED, OTHER)]


def test_the_policy_and_the_table_leave_machines_out(some):
    """The rest keeps its order; no more than a sweep can read."""
    job = some.job(file=JobFile(machines=("n2-standard-8", THIRD, OTHER)))
    facts = with_machines(job)
    # The script's machine, g2-standard-4, has GPUs, and n2-standard-8 has none.
    assert [launch.machine for launch in facts.launch.instead] == [THIRD, OTHER]
    assert with_machines(job).launch is facts.launch
    admitted = admit_others(facts, AdmissionLimits(machine_types=("g2-*",)), "p")
    assert [launch.machine for launch in admitted.launch.instead] == [THIRD]
    many = tuple(f"g2-standard-{size}" for size in range(5, 40))
    assert len(with_machines(some.job(file=JobFile(machines=many))).launch.instead) == MOST_MACHINES


def test_another_machine_is_asked_for_where_it_is_offered(some):
    """Home is left out where it has none; where nobody knows, home is asked."""
    job = with_machines(some.job(file=JobFile(machines=(OTHER,), places=("us-central1",))))
    record = PlacementRecord(machine=OTHER, offered=(NEXT, "us-central1-c", "us-east1-b"))
    (known,) = with_places(replace(job, other_places={OTHER: record}), PlacementLimits()).launch.instead
    assert [choice.place for choice in known.choices] == [NEXT, "us-central1-c"]
    assert known.choices[0].request.body["machineType"] == OTHER
    (unknown,) = with_places(job, PlacementLimits()).launch.instead
    assert [choice.place for choice in unknown.choices] == [HOME]
    abroad = PlacementRecord(machine=OTHER, offered=("us-east1-b",))
    assert with_places(replace(job, other_places={OTHER: abroad}), PlacementLimits()).launch.instead == ()


def test_the_key_of_a_memory_names_machine_and_gpu():
    """Of machines whose GPUs are attached."""
    assert split_key("n1-standard-8-nvidia-tesla-t4") == ("n1-standard-8", "nvidia-tesla-t4")
    assert split_key("a2-highgpu-1g") == ("a2-highgpu-1g", "")


def test_a_try_is_sent_for_its_machine(waiting, walk):
    """With the job's labels on it."""
    facts = waiting(Try(place=NEXT, request_id="r", at=NOW, machine=OTHER))
    body = {**facts.launch.request.body, "machineType": OTHER}
    other = replace(
        facts.launch.instead[0],
        choices=tuple(
            replace(choice, request=replace(choice.request, body=body))
            for choice in facts.launch.instead[0].choices
        ),
    )
    placing = replace(facts.newest, state=AttemptState.PLACING)
    facts = replace(
        facts,
        launch=replace(facts.launch, instead=(other,)),
        ledger=(facts.ledger[0], replace(facts.ledger[1], attempt=placing)),
    )
    steps, _ = walk(facts)
    (launch,) = [step for step in steps if isinstance(step, LaunchInstances)]
    assert launch.request.body["machineType"] == OTHER
    assert f"zones/{NEXT}/" in launch.request.path
    assert launch.reason.endswith(f"on {OTHER}")


def machines_of(world) -> list[str]:
    """The machine types of the VMs that run."""
    return [vm.body["machineType"].rpartition("/")[2] for vm in world.cloud.compute.vms.living.values()]


def allow(world, *machines: str) -> None:
    """Let the job run on these machine types, too."""
    text = f"machines = {msgspec.json.encode(machines).decode()}\nplaces = []\n"
    world.store(JobFileName(job="test-vm"), text.encode())


def test_a_job_comes_back_on_the_machine_that_has_room(world):
    """And on its own again, when it is lost there and that has room; each is remembered by itself."""
    allow(world, "g2-standard-8", OTHER)
    for machine in ("g2-standard-4", "g2-standard-8"):
        world.cloud.compute.run_out_of(machine, HOME)
    world.preempt()
    world.sweep_until_quiet()
    (attempt,) = world.attempts()
    assert [tried.machine for tried in attempt.tries] == ["", "g2-standard-8", OTHER]
    assert (attempt.state, machines_of(world)) == (AttemptState.RUNNING, [OTHER])

    world.cloud.compute.have_again("g2-standard-4", HOME)
    world.wait(hours=1)
    world.preempt()
    world.sweep_until_quiet()
    newest = world.attempts()[-1]
    assert (newest.lost_on, newest.tries[-1].machine) == (OTHER, "")
    assert machines_of(world) == ["g2-standard-4"]


def lost_in(world, machine):
    """When each zone last took a VM of this machine type, as far as that is remembered."""
    zones = world.read(f"spotwarden/placement/{machine}.json")["availability"]
    return {zone: known["taken"] for zone, known in zones.items() if known.get("taken")}


@pytest.mark.parametrize("changed", [False, True])
def test_a_vm_on_another_machine_that_its_owner_starts_again_is_as_its_script_wants_it(world, changed):
    """Recovery made it so; only a script stored since then would make another one."""
    allow(world, OTHER)
    world.cloud.compute.run_out_of("g2-standard-4", HOME)
    world.preempt()
    world.sweep_until_quiet()
    world.wait(minutes=5)
    world.cloud.compute.owner_stops("test-vm")
    world.wait(minutes=5)
    world.settle()
    if changed:
        stored = world.cloud.store.read("test-vm/metadata/create-instance.sh").data
        world.store(CreateScript(job="test-vm"), stored.replace(b"g2-standard-4", b"g2-standard-12"))
    world.cloud.compute.owner_starts("test-vm")
    world.wait(minutes=5)
    world.settle()
    assert world.attempts()[-1].seen
    before = lost_in(world, "g2-standard-4"), lost_in(world, OTHER)
    world.preempt()
    world.sweep_until_quiet()
    assert world.attempts()[-1].lost_on == OTHER
    assert lost_in(world, "g2-standard-4") == before[0]
    assert lost_in(world, OTHER) != before[1]
    assert ("script_differs" in world.notices()) == changed


def test_a_machine_on_which_the_policy_would_stop_the_job_is_passed_over(world):
    """Though its owner allows it, and it has room."""
    allow(world, "g2-standard-8", OTHER)
    world.cloud.compute.run_out_of("g2-standard-4", HOME)
    limits = ComplianceLimits(machine_types=("a2-*",), remedy=Remedy.STOP)
    world.policy = replace(world.policy, mode=Mode.ENFORCE, compliance=limits)
    world.preempt()
    world.sweep_until_quiet()
    (attempt,) = world.attempts()
    assert [tried.machine for tried in attempt.tries] == ["", OTHER]
    assert machines_of(world) == [OTHER]


@pytest.mark.parametrize(("allowed", "model"), [(("SPOT", "STANDARD"), VmModel.STANDARD), (("SPOT",), None)])
def test_a_kind_of_vm_as_which_the_policy_would_stop_the_job_is_passed_over(world, allowed, model):
    """Its ladder has come to on-demand VMs, of which there are some."""
    text = b'places = []\nladder = [{ model = "spot", up_to = "1m" }, { model = "standard" }]\n'
    world.store(JobFileName(job="test-vm"), text)
    world.cloud.compute.run_out_of("g2-standard-4", HOME)
    limits = ComplianceLimits(provisioning=allowed, remedy=Remedy.STOP)
    world.policy = replace(world.policy, mode=Mode.ENFORCE, compliance=limits)
    world.preempt()
    for _ in range(6):
        world.sweep()
        world.wait(seconds=40)
    (attempt,) = world.attempts()
    assert {tried.model for tried in attempt.tries} == {VmModel.SPOT, model or VmModel.SPOT}


@pytest.mark.parametrize(("allowed", "asked"), [(("us-*",), ELSEWHERE), (("us-central1",), HOME)])
def test_a_region_in_which_the_policy_would_stop_the_job_is_passed_over(world, allowed, asked):
    """Its job.toml names it, and it has room."""
    world.store(JobFileName(job="test-vm"), f'places = ["{ELSEWHERE}"]\n'.encode())
    world.cloud.compute.zones = (HOME, ELSEWHERE)
    world.cloud.compute.run_out_of("g2-standard-4", HOME)
    limits = ComplianceLimits(regions=allowed, remedy=Remedy.STOP)
    world.policy = replace(world.policy, mode=Mode.ENFORCE, compliance=limits)
    world.preempt()
    for _ in range(4):
        world.sweep()
        world.wait(seconds=40)
    (attempt,) = world.attempts()
    assert attempt.tries[-1].place == asked


def test_without_other_machines_the_same_job_waits(world):
    """One fact apart."""
    world.cloud.compute.run_out_of("g2-standard-4", HOME)
    world.store(JobFileName(job="test-vm"), b"places = []\n")
    world.preempt()
    for _ in range(4):
        world.sweep()
        world.wait(seconds=20)
    (attempt,) = world.attempts()
    assert (attempt.state, machines_of(world)) == (AttemptState.BACKING_OFF, [])
