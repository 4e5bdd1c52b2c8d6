"""What one zone would cost a job that asks for spot beside its on-demand VM, as only a second name allows."""

from dataclasses import dataclass

from .market import ROUND
from .ours import Ours
from .replay import ON_DEMAND, Job, State, Wait
from .rules import must_go

HAND_OVER = 120.0
"""Both VMs are paid for as long as a successor boots; the work goes on."""
BEHIND, AHEAD = 1.0, -2.0
"""In restarts: so far behind a line to the deadline it leaves spot, and from so far on it returns.

Chosen on even windows, each fifth of them.
"""


@dataclass
class Returning(Ours):
    """Ours, but on-demand while it is behind the line, and asking for spot beside that once a round."""

    review: float = ROUND
    overlap: float = HAND_OVER
    tried: float = 0.0

    def choose(self, state: State, job: Job) -> str | Wait:
        """Stay on spot, leave it once it is behind, and come back by a hand-over."""
        if state.place == ON_DEMAND:
            return self._back(state, job)
        if state.place:
            return state.place
        wanted = super().choose(state, job)
        behind = _lead(state, job) < -BEHIND * job.restart
        if isinstance(wanted, Wait) and behind:
            self.waited = False
            return ON_DEMAND
        return wanted

    def _back(self, state: State, job: Job) -> str:
        """Spot, where another preemption would still leave time to go back on-demand."""
        early = state.now < state.ready or state.now - self.tried < ROUND
        if early or must_go(state, job, 3.5) or _lead(state, job, AHEAD * job.restart) <= 0:
            return ON_DEMAND
        self.tried = state.now
        return self.places[0]


def _lead(state: State, job: Job, later: float = 0.0) -> float:
    """Seconds of work ahead of a straight line to the deadline, so many seconds from now."""
    deadline = job.deadline if job.deadline is not None else state.now
    share = (state.now - job.start + later) / (deadline - job.start)
    return (job.work - state.left) - job.work * share
