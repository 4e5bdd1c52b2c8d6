"""What is known when idle GPUs are looked for."""

from collections.abc import Mapping

import msgspec

from spotwarden.governance.signals.facts import JobRecord
from spotwarden.model.accelerators import is_tpu
from spotwarden.model.fleet import Machine
from spotwarden.model.jobfile import JobFile
from spotwarden.model.load import GpuLoads
from spotwarden.model.prices import PriceTable


class IdleFacts(msgspec.Struct, frozen=True, kw_only=True):
    """`machines` are the running VMs that have GPUs, whoever they belong to.

    `jobs` names the job of each of them that has one, by instance id: of its label, or of the list of open
    jobs. `loads` holds the counts of points and GPUs only for VMs that may be idle, `attempts` of their jobs'
    VMs the attempt that has each on record as its own, `files` only the files of their jobs, `prices` only
    what they cost, `records` only those of jobs to whose VMs the rule may do something. `running` counts all
    job VMs that run, those without GPUs included; `hidden` are the zones that could not be listed, `repaired`
    the VMs that Compute Engine repairs. `lost` are by job the ids of other VMs that it has, or had: what they
    have worked until lately the others did not idle. `loads.problem` says why nothing is known of GPUs, and
    `tpu_problem` why nothing is of TPUs: Monitoring may answer for one of the two.
    """

    machines: tuple[Machine, ...] = ()
    jobs: Mapping[str, str] = {}
    attempts: Mapping[str, int] = {}
    loads: GpuLoads
    tpu_problem: str = ""
    files: Mapping[str, JobFile] = {}
    prices: PriceTable = PriceTable()
    records: Mapping[str, JobRecord] = {}
    running: int = 0
    hidden: tuple[str, ...] = ()
    repaired: frozenset[str] = frozenset()
    lost: Mapping[str, tuple[str, ...]] = {}

    @property
    def blind(self) -> bool:
        """Whether there is a VM kind of whose accelerators nothing is known."""
        return bool(self.loads.problem or self.tpu_problem)

    def problem_of(self, machine: Machine) -> str:
        """Why nothing is known of what its accelerators do; "" where something is."""
        return self.tpu_problem if is_tpu(machine.gpu) else self.loads.problem
