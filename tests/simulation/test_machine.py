"""The same world, driven by hypothesis: it looks for a history that fails and cuts it short by itself."""

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from tests.long import examples
from tests.simulation import commands as c
from tests.simulation.history import end, faults_of
from tests.simulation.process import silenced
from tests.simulation.run import Setting

NUMBERS = st.integers(0, 5)
WORDS = st.sampled_from(c.Word)
SKEWS = st.sampled_from((0, -60, 60))


class Recovery(RuleBasedStateMachine):
    """Anything, in any order; in the end every job must be where it belongs."""

    def __init__(self) -> None:
        super().__init__()
        self.world = Setting().world()

    def do(self, command: c.Command) -> None:
        """Let it happen, quietly."""
        with silenced():
            self.world.do(command)

    @initialize(kind=st.sampled_from(c.Kind), zone=NUMBERS)
    def first(self, kind: c.Kind, zone: int) -> None:
        """There is a job."""
        self.do(c.Submit(kind=kind, zone=zone))

    @rule(kind=st.sampled_from(c.Kind), zone=NUMBERS, nodes=st.integers(2, 3))
    def submit(self, kind: c.Kind, zone: int, nodes: int) -> None:
        """A developer launches another job."""
        self.do(c.Submit(kind=kind, zone=zone, nodes=nodes))

    @rule(vm=NUMBERS, word=WORDS)
    def preempt(self, vm: int, word: c.Word) -> None:
        """Compute Engine takes a VM."""
        self.do(c.Preempt(vm=vm, word=word))

    @rule(vm=NUMBERS)
    def fail_host(self, vm: int) -> None:
        """A host fails."""
        self.do(c.FailHost(vm=vm))

    @rule(vm=NUMBERS, word=WORDS)
    def reboot(self, vm: int, word: c.Word) -> None:
        """A guest reboots."""
        self.do(c.Reboot(vm=vm, word=word))

    @rule(job=NUMBERS, word=WORDS)
    def finish(self, job: int, word: c.Word) -> None:
        """A job ends."""
        self.do(c.Finish(job=job, word=word))

    @rule(job=NUMBERS, keep=st.booleans(), word=WORDS)
    def remove(self, job: int, word: c.Word, *, keep: bool) -> None:
        """An owner deletes or stops a job."""
        self.do(c.Remove(job=job, keep=keep, word=word))

    @rule(job=NUMBERS)
    def relaunch(self, job: int) -> None:
        """An owner launches it again."""
        self.do(c.Relaunch(job=job))

    @rule(zone=NUMBERS, left=st.sampled_from((None, 0, 1)))
    def stock(self, zone: int, left: int | None) -> None:
        """A zone runs out, or has room again."""
        self.do(c.Stock(zone=zone, left=left))

    @rule(zone=NUMBERS, hidden=st.booleans())
    def hide(self, zone: int, *, hidden: bool) -> None:
        """A zone is left out of the lists, or shown again."""
        self.do(c.Hide(zone=zone, hidden=hidden))

    @rule(requests=st.booleans())
    def forget(self, *, requests: bool) -> None:
        """Operations answer 404."""
        self.do(c.Forget(requests=requests))

    @rule(forbidden=st.booleans())
    def forbid(self, *, forbidden: bool) -> None:
        """A right is taken from us, or given back."""
        self.do(c.Forbid(forbidden=forbidden))

    @rule(seconds=st.sampled_from((1, 10, 40, 60, 130, 430)))
    def wait(self, seconds: int) -> None:
        """Time passes."""
        self.do(c.Pass(seconds=seconds))

    @rule(skew=SKEWS, calls=st.integers(1, 40), changes=st.booleans(), then=st.sampled_from(c.Then))
    def sweep(self, skew: int, calls: int, then: c.Then, *, changes: bool) -> None:
        """A sweep begins."""
        self.do(c.Sweep(skew=skew, calls=calls, changes=changes, then=then))

    @rule(sweep=NUMBERS, calls=st.integers(1, 20), changes=st.booleans(), then=st.sampled_from(c.Then))
    def go_on(self, sweep: int, calls: int, then: c.Then, *, changes: bool) -> None:
        """A sweep that waits goes on."""
        self.do(c.Run(sweep=sweep, calls=calls, changes=changes, then=then))

    @invariant()
    def nothing_is_wrong(self) -> None:
        """At every moment."""
        assert faults_of(self.world) == []

    def teardown(self) -> None:
        """Once the trouble is over, everything is where it belongs."""
        with silenced():
            assert end(self.world).faults == []


Recovery.TestCase.settings = settings(
    max_examples=examples(100),
    stateful_step_count=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
TestRecovery = Recovery.TestCase
