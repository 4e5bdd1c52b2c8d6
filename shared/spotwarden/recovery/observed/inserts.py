"""Which inserts of the operation log came of which requests."""

from collections.abc import Collection, Iterator, Sequence

from spotwarden.model.instance import Operation


def of_requests(inserts: Sequence[Operation], requests: Collection[str]) -> Iterator[Operation]:
    """The inserts of single VMs that these requests, by id, have asked for; those that failed, too."""
    requests = {request for request in requests if request}
    groups = {insert.group for insert in inserts if insert.group and insert.request_id in requests}
    return (
        insert
        for insert in inserts
        if insert.kind == "insert" and (insert.request_id in requests or insert.group in groups)
    )
