"""What a policy would have done with sweeps that were made under another."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from msgspec.structs import replace

from spotwarden.governance.backtest.aftermath import ended_well
from spotwarden.governance.backtest.model import After
from spotwarden.governance.backtest.replay import Replay
from spotwarden.governance.backtest.sums import sums
from spotwarden.model.finding import Finding, Judged, Reading, Subject, Target
from spotwarden.model.fleet import Machine
from spotwarden.model.governance import GovernanceLimits, Mode, Remedy
from spotwarden.model.instance import Status
from spotwarden.model.policy import Policy
from spotwarden.model.prices import PriceTable, Rate
from spotwarden.model.rule_limits import IdleLimits
from spotwarden.model.seen import RecordedSweep
from spotwarden.model.tick import Tick

NOW = datetime(2026, 1, 5, tzinfo=UTC)
STEP = timedelta(minutes=10)
ZONE = "us-central1-a"
BAD, UNKNOWN = "bad", "unknown"


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """The VMs that run, and since when each of them idles; `says` is what else is known of one."""

    machines: tuple[Machine, ...] = ()
    idle: Mapping[str, datetime] = {}
    unknown: frozenset[str] = frozenset()
    exempt: Mapping[str, str] = {}
    hidden: tuple[str, ...] = ()
    stopped: frozenset[str] = frozenset()
    hung: frozenset[str] = frozenset()


def judge(facts, brief):
    """Idle for as long as the policy allows is ripe; half of that is warned of."""
    limits = brief.policy.idle
    findings = []
    for one in facts.machines:
        subject = Subject(
            key=one.id,
            job=f"job-{one.id}",
            owner="ada",
            targets=(Target(id=one.id, name=one.name, zone=ZONE),),
        )
        common = {"rule": "idle", "subject": subject, "limits": limits, "reason": "idle"}
        if one.id in facts.unknown:
            findings.append(Finding(**common, reading=Reading.UNKNOWN))
        elif since := facts.idle.get(one.id):
            span = brief.tick.now - since
            if one.id in facts.hung:
                common |= {"rule": "stall"}
            if span >= limits.warn[0]:
                exempt = facts.exempt.get(one.id, "")
                findings.append(Finding(**common, since=since, ripe=span >= limits.act, exempt=exempt))
    return Judged(
        rules=("idle", "stall"),
        findings=tuple(findings),
        hidden=facts.hidden,
        present=frozenset(one.id for one in facts.machines) - facts.stopped,
        fleet=len(facts.machines),
    )


def policy(act=4 * STEP, warn=2 * STEP, grace=STEP, **fields):
    """Warned of after 20 minutes and stopped after 40."""
    idle = IdleLimits(remedy=Remedy.STOP, warn=(warn,), act=act, grace=grace)
    return Policy(**{"version": "new", "idle": idle, **fields})


def vm(key="1", started=NOW - timedelta(days=1)):
    """A VM with eight GPUs."""
    return Machine(
        id=key, name=f"vm-{key}", zone=ZONE, status=Status.RUNNING, started=started, gpus=8, machine_type="m"
    )


def look(tick, **facts):
    """What the sweep of this tick saw."""
    sweep = Tick(function="flag_idle_gpus", sweep=f"s-{tick:04}", now=NOW + tick * STEP)
    return RecordedSweep(tick=sweep, policy="old", steady=NOW, facts=Facts(**facts))


def replay(*looks, under=None):
    """All of it, replayed."""
    played = Replay("flag_idle_gpus", judge, under or policy())
    for one in looks:
        played.look(one)
    return played.result()


def idle(first, last, since=0, **facts):
    """One VM that idles since a tick, seen at each tick from the first to the last."""
    facts = {"machines": (vm(),), "idle": {"1": NOW + since * STEP}, **facts}
    return [look(tick, **facts) for tick in range(first, last + 1)]


def test_an_idle_vm_would_have_been_warned_and_stopped():
    """The warning at its moment, the remedy once it is ripe and the grace is over."""
    done = replay(*idle(0, 10))
    assert [told.at for told in done.told] == [NOW + 2 * STEP]
    (remedy,) = done.remedies
    assert (remedy.at, remedy.target.id, remedy.remedy) == (NOW + 4 * STEP, "1", Remedy.STOP)
    assert (done.sweeps, done.first, done.last) == (11, NOW, NOW + 10 * STEP)
    assert done.cases == {"idle": 1}


def test_a_policy_that_allows_more_would_have_done_nothing():
    """Warned, and cleared when the VM woke up."""
    looks = [*idle(0, 10), look(11, machines=(vm(),))]
    done = replay(*looks, under=policy(act=11 * STEP))
    assert (len(done.told), done.remedies) == (1, ())


def test_waste_is_counted_to_the_last_sweep_that_saw_it():
    """From the remedy at the fourth tick to the tenth: an hour, whatever came after."""
    done = replay(*idle(0, 10), look(11))
    (remedy,) = done.remedies
    assert (remedy.hours, remedy.gone, remedy.wrong) == (1.0, NOW + 11 * STEP, False)
    assert remedy.machine == vm()


def test_a_vm_that_works_later_is_a_wrong_kill():
    """Said with when and how; what it wasted until then is still counted."""
    done = replay(*idle(0, 7), look(8, machines=(vm(),)), *idle(9, 12))
    (remedy,) = done.remedies
    assert remedy.wrong
    assert (remedy.after, remedy.turned, remedy.how) == (After.WORKED, NOW + 8 * STEP, "a GPU was busy again")
    assert remedy.hours == 0.5


def test_a_vm_that_its_owner_keeps_later_is_a_wrong_kill():
    """Somebody wanted it."""
    done = replay(*idle(0, 7), *idle(8, 8, exempt={"1": "its label keeps it"}))
    (remedy,) = done.remedies
    assert (remedy.after, remedy.how) == (After.KEPT, "its label keeps it")


@pytest.mark.parametrize(
    "later",
    [
        {"machines": (vm(),), "unknown": frozenset({"1"})},
        {"machines": (vm(),), "hidden": ("project",)},
        {"hidden": (ZONE,)},
    ],
)
def test_what_nobody_knows_is_neither_work_nor_waste(later):
    """Without metrics, or out of sight, a VM is not said to work, nor to be gone."""
    (remedy,) = replay(*idle(0, 7), look(8, **later)).remedies
    assert (remedy.wrong, remedy.gone, remedy.hours) == (False, None, 0.5)


def test_a_vm_that_would_be_gone_is_not_acted_upon_again():
    """It goes on idling in what was seen; in this policy's world it has been stopped."""
    assert len(replay(*idle(0, 60)).remedies) == 1


def test_a_vm_that_was_started_again_is_judged_anew():
    """Another life of the same id, with its own warning and its own remedy."""
    again = {"machines": (vm(started=NOW + 10 * STEP),), "idle": {"1": NOW + 10 * STEP}}
    done = replay(*idle(0, 9), *(look(tick, **again) for tick in range(11, 20)))
    assert [remedy.at for remedy in done.remedies] == [NOW + 4 * STEP, NOW + 14 * STEP]
    assert len(done.told) == 2


def test_a_vm_that_really_was_stopped_and_came_back_is_judged_anew():
    """Also where nothing tells when it was started."""
    gone = [look(tick) for tick in range(5, 9)]
    again = {"machines": (vm(started=None),), "idle": {"1": NOW + 9 * STEP}}
    done = replay(*idle(0, 4), *gone, *(look(tick, **again) for tick in range(9, 15)))
    assert [remedy.at for remedy in done.remedies] == [NOW + 4 * STEP, NOW + 13 * STEP]


def test_what_would_be_deleted_is_deleted_once():
    """A stopped VM, or a disk, is in no list of what runs; it is there for as long as it is found."""
    new = policy()
    new = replace(new, idle=replace(new.idle, remedy=Remedy.DELETE))
    running = [replace(one, facts=replace(one.facts, stopped=frozenset({"1"}))) for one in idle(0, 30)]
    done = replay(*running, look(31), under=new)
    (remedy,) = done.remedies
    assert (remedy.remedy, remedy.gone) == (Remedy.DELETE, NOW + 31 * STEP)


def test_what_is_beyond_the_blast_radius_waits_for_the_next_sweep():
    """Three at once are too many for two: the third one waits, and the replay says so."""
    everyone = {"machines": tuple(vm(key) for key in "123"), "idle": dict.fromkeys("123", NOW)}
    looks = [look(tick, **everyone) for tick in range(5)]
    two = GovernanceLimits(blast_count=2, blast_share=1)
    done = replay(*looks, under=policy(governance=two))
    assert [remedy.at for remedy in done.remedies] == [NOW + 4 * STEP] * 2
    assert [(one.at, one.vms) for one in done.stopped] == [(NOW + 4 * STEP, 1)]
    three = replay(*looks, under=policy(governance=replace(two, blast_count=3)))
    assert (len(three.remedies), three.stopped) == (3, ())


def test_the_first_rule_goes_first():
    """Three idle VMs and a hung one, two in a sweep: the hung one comes last, as the rules' order says."""
    facts = {"machines": tuple(vm(key) for key in "1234"), "idle": dict.fromkeys("1234", NOW)}
    looks = [look(tick, **facts, hung=frozenset({"4"})) for tick in range(6)]
    two = GovernanceLimits(blast_count=2, blast_share=1)
    done = replay(*looks, under=policy(governance=two))
    assert [remedy.target.id for remedy in done.remedies] == ["1", "2", "3", "4"]
    assert [(one.rule, one.vms) for one in done.stopped] == [("idle", 1), ("stall", 1)]


def test_the_blast_radius_counts_only_what_would_still_run():
    """Of four VMs two are stopped; half of the two that are left is one, so two more go one by one."""
    two, all_four = {"1": NOW, "2": NOW}, {**dict.fromkeys("12", NOW), **dict.fromkeys("34", NOW + 5 * STEP)}
    machines = tuple(vm(key) for key in "1234")
    looks = [look(tick, machines=machines, idle=two if tick < 5 else all_four) for tick in range(12)]
    half = GovernanceLimits(blast_count=10, blast_share=0.5, blast_least=1)
    done = replay(*looks, under=policy(governance=half))
    assert [remedy.at for remedy in done.remedies] == [NOW + tick * STEP for tick in (4, 4, 9, 10)]
    assert done.stopped[0].at == NOW + 9 * STEP


def test_a_case_is_over_once_its_vm_would_be_gone():
    """Started again and as idle as ever, it gets a new case, a new warning and the whole grace."""
    again = {"machines": (vm(started=NOW + 9 * STEP),), "idle": {"1": NOW}}
    done = replay(*idle(0, 9), *(look(tick, **again) for tick in range(10, 13)))
    assert [told.at for told in done.told] == [NOW + 2 * STEP, NOW + 10 * STEP]
    assert [remedy.at for remedy in done.remedies] == [NOW + 4 * STEP, NOW + 11 * STEP]
    assert done.cases == {"idle": 2}


def test_a_policy_that_observes_is_replayed_as_if_it_enforced():
    """A first deployment asks just this: what would it do?"""
    assert len(replay(*idle(0, 10), under=policy(mode=Mode.OBSERVE)).remedies) == 1


def test_a_rule_that_observes_does_nothing_in_a_replay():
    """Rule by rule the policy is taken at its word."""
    new = policy()
    done = replay(*idle(0, 10), under=replace(new, idle=replace(new.idle, mode=Mode.OBSERVE)))
    assert (len(done.told), done.remedies) == (1, ())


def test_what_is_unknown_is_counted_by_itself():
    """And never acted upon."""
    done = replay(*idle(0, 20, unknown=frozenset({"1"})))
    assert (done.cases, done.clouded, done.told, done.remedies) == ({}, {"idle": 1}, (), ())


def test_two_replays_of_the_same_sweeps_do_not_touch_each_other():
    """One record is read once and shown to both policies."""
    old, new = (Replay("f", judge, policy(act=act)) for act in (4 * STEP, 6 * STEP))
    for one in idle(0, 10):
        old.look(one)
        new.look(one)
    assert [played.result().remedies[0].at for played in (old, new)] == [NOW + 4 * STEP, NOW + 6 * STEP]


@pytest.mark.parametrize(
    ("end", "wrong"),
    [
        (4 * STEP, False),
        (4 * STEP + timedelta(seconds=1), True),
        (11 * STEP, True),
        (11 * STEP + timedelta(seconds=1), False),
    ],
)
def test_a_job_that_came_to_its_good_end_on_that_vm_is_a_wrong_kill(end, wrong):
    """After the remedy would have come, and while the VM was really there; later it ran elsewhere."""
    done = replay(*idle(0, 10), look(11))
    (remedy,) = ended_well(done.remedies, {"job-1": NOW + end})
    assert remedy.wrong is wrong
    assert bool(remedy.how) is wrong


def test_a_job_that_ended_is_why_an_orphan_goes():
    """Its good end is no objection."""
    (remedy,) = replay(*idle(0, 10), look(11)).remedies
    orphan = replace(remedy, rule="orphan")
    assert ended_well([orphan], {"job-1": NOW + 5 * STEP}) == [orphan]


def table(**rates):
    """Prices of the machine that all VMs here are."""
    rate = Rate(machine="m", gpus=8, region="us-central1", date=NOW.date(), **rates)
    return PriceTable(rates=(rate,) if rates else ())


def test_figures_leave_wrong_kills_out():
    """Both VMs are stopped at the fourth tick; one works at the sixth, one idles to the tenth."""
    both = {"machines": (vm("1"), vm("2")), "idle": dict.fromkeys("12", NOW)}
    one = {"machines": (vm("1"), vm("2")), "idle": {"2": NOW}}
    done = replay(*(look(tick, **(both if tick < 6 else one)) for tick in range(11)))
    (row,) = sums(done, table(standard=10.0))
    assert (row.rule, row.cases, row.told, row.remedies, row.wrong) == ("idle", 2, 2, 2, 1)
    assert (row.vm_hours, row.gpu_hours, row.money) == (1.0, 8.0, "$10.00")


def test_a_price_that_nobody_knows_is_said_so():
    """It is not nothing; and where nothing is saved there is no price to be known."""
    assert [row.money for row in sums(replay(*idle(0, 10)), table())] == ["unknown: no price"]
    assert [row.money for row in sums(replay(*idle(0, 4)), table())] == [""]
