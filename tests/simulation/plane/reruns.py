"""People who run a job's create script again by hand, where they see none of its VMs."""

from datetime import timedelta

from spotwarden.ports import RejectedError
from tests.fakes.fate import NOBODY
from tests.simulation import commands as c
from tests.simulation.jobs import UNBORN
from tests.simulation.plane import commands as p
from tests.simulation.plane.jobs import MACHINE, ODD, PlaneJob
from tests.simulation.plane.waiting import Waiting

COLLEAGUE = "eve@x.org"
MOMENT = timedelta(milliseconds=1)


class Reruns(Waiting):
    """A world in which scripts are run by hand, the first time and again."""

    def launch_by_hand(self, job: PlaneJob, user: str = "") -> None:
        """A person's own gcloud makes the VMs; raise `RejectedError` where Compute Engine refuses."""
        job.launches += 1
        request_id = f"{job.name} by hand {job.launches}"
        self.launched[request_id] = job
        forbidden = self.compute.forbid(forbidden=False)
        before, self.compute.caller = self.compute.caller, user or job.owner or NOBODY
        try:
            self.compute.launch(job.request, request_id)
        finally:
            self.compute.caller = before
            self.compute.forbid(forbidden=forbidden)

    def _rerun(self, command: p.Rerun) -> None:
        """Compute Engine refuses it while a VM of the name is there; a sweep may be about to make others."""
        down = [job for job in self.jobs if self._is_down(job)]
        if not down:
            return
        job = down[command.job % len(down)]
        # Nobody types in the very instant of something else: nothing would tell which was first.
        self.pass_time(MOMENT)
        try:
            self.launch_by_hand(job, COLLEAGUE if command.colleague else "")
        except RejectedError as error:
            self.note(f"    gcloud: {error}")
            return
        self.reopen(job)
        for process in self.processes:
            process.unaware.add(job.name)

    def _is_down(self, job: PlaneJob) -> bool:
        """Whether it was launched, has not ended, and nothing of it is there or on its way out."""
        if job.kind is c.Kind.BARE or job.over == UNBORN or job.ended or job.finished or job.forged:
            return False
        there = self.up(job) or self.stopping(job) or self.oracle.there(job)
        return not there and self.compute.has_room(job.zone, ODD if job.odd else MACHINE)
