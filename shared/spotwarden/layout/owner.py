"""Whose marker is this?"""

from collections.abc import Collection

from spotwarden.layout.names import NotInLayoutError


def job_of(node: str, *, said: str | None, jobs: Collection[str], registered: Collection[str]) -> str:
    """The job that a marker's node belongs to, never by its suffix alone.

    `said` is what the marker's body names, `jobs` are the jobs known to exist, `registered` those whose
    metadata holds `<node>-instance-id`. In this order; `NotInLayoutError` says
    why none fits.
    """
    if said is not None:
        if said in jobs:
            return said
        raise NotInLayoutError(node, f"the marker names the job {said!r}, which has no folder in the bucket")
    if node in jobs:
        return node
    if len(registered) == 1:
        return next(iter(registered))
    if registered:
        raise NotInLayoutError(node, f"registered in several jobs: {', '.join(sorted(registered))}")
    raise NotInLayoutError(node, f"no job has this name, and none has registered {node}-instance-id")
