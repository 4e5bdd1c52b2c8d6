"""What is known when caps are held: who runs what, since when, and what they have used."""

from collections.abc import Mapping

import msgspec

from spotwarden.model.attempt import Attempt
from spotwarden.model.fleet import Machine
from spotwarden.model.jobfile import JobFile
from spotwarden.model.prices import PriceTable
from spotwarden.model.usage import DayTotal


class JobAttempts(msgspec.Struct, frozen=True, kw_only=True):
    """A job's own records, as far as caps need them: its ledger is cut to times, ids and places.

    `ended` means that it has written its status; `problem` says why its records could not be read, and
    `lasting` that this will not mend by itself.
    """

    file: JobFile = JobFile()
    owner: str = ""
    attempts: tuple[Attempt, ...] = ()
    ended: bool = False
    problem: str = ""
    lasting: bool = False


class CapFacts(msgspec.Struct, frozen=True, kw_only=True):
    """`machines` are the VMs that run: those of jobs, and all others where the policy wants them looked at.

    `jobs` names the job of each VM that has one, by instance id, `records` are those jobs'. `keys` are the
    names of owners as a case may bear them. `usage` holds the days of this week and month, and `prices` the
    rates of the kinds of VM that occur; `hidden` are the zones that could not be listed,
    `repaired` the VMs that Compute Engine repairs: they will run again.

    A job's case has one unit, hours, whatever is capped: `Case.extended` is added to the hours that the job
    may be up, and a budget grows by what its VMs cost in that time.
    """

    machines: tuple[Machine, ...] = ()
    jobs: Mapping[str, str] = {}
    records: Mapping[str, JobAttempts] = {}
    keys: Mapping[str, str] = {}
    usage: tuple[DayTotal, ...] = ()
    prices: PriceTable = PriceTable()
    hidden: tuple[str, ...] = ()
    repaired: frozenset[str] = frozenset()
