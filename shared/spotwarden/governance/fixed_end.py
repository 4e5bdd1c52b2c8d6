"""VMs that Compute Engine ends by itself: no extension of ours reaches beyond that."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from spotwarden.model.finding import Target
from spotwarden.model.spans import moment


def fixed_end(targets: Sequence[Target], due: datetime | None, more: timedelta) -> datetime | None:
    """When the first of the VMs ends, where that is before a limit with so much more; None where none does.

    `due` is when the limit is reached as it is.
    """
    ends = min((target.ends for target in targets if target.ends is not None), default=None)
    return ends if ends is not None and due is not None and ends < due + more else None


def why_not(ends: datetime) -> str:
    """Why an extension would be no help."""
    return (
        f"Compute Engine ends it at {moment(ends)}, because of the run time that it was launched with"
        " (maxRunDuration), which can't be changed while it runs"
    )


def go_on(job: str) -> str:
    """How to go on after that end."""
    return f"To continue after that, raise max_runtime in its job.toml, then run `spotwarden restart {job}`"
