"""What `check_compliance` sees: VMs, and what is on record of the jobs of those that are at fault."""

from collections.abc import Mapping

import msgspec

from spotwarden.model.fleet import Machine
from spotwarden.model.jobfile import JobFile


class JobWord(msgspec.Struct, frozen=True, kw_only=True):
    """Who owns a job and what it says for itself; `problem` says why that could not be read.

    `nodes` are the ids of its present attempt's VMs, `lacking` the names of nodes that its gang asks for
    again: one that was told of its end may still run, and a new one wait to join.
    """

    nodes: frozenset[str] = frozenset()
    lacking: frozenset[str] = frozenset()
    owner: str = ""
    file: JobFile = JobFile()
    problem: str = ""


class ComplianceFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The VMs that run or are being made, and by instance id whose they are.

    `jobs` has only those jobs whose VMs may be at fault. `only` are the ids that are asked about, with the
    other VMs of their jobs beside them; None means all.
    """

    machines: tuple[Machine, ...] = ()
    whose: Mapping[str, str] = {}
    jobs: Mapping[str, JobWord] = {}
    unreachable: tuple[str, ...] = ()
    only: frozenset[str] | None = None
