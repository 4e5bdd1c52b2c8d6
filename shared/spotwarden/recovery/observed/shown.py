"""What Compute Engine shows at one moment: instances and the operation log, found by id, name and job."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from functools import cached_property

from spotwarden.model.instance import Instance, Instances, Operation, Operations
from spotwarden.recovery.observed.actors import Actor, actor
from spotwarden.recovery.observed.fates import REMOVALS, alive

NODE_OF_A_GANG = re.compile(r"(?P<job>.+)-\d+")
TAKEN = {"compute.instances.preempted", "compute.instances.hostError"}
LOG_MARGIN = timedelta(minutes=15)
"""How far before a marker the operation log is read: a preemption is told before its marker."""


class ShownInstances:
    """What Compute Engine shows at one moment, found by id, by name and by job.

    `taken_since` is from when on a preemption or a host error leads to a job that nobody has written down.
    """

    def __init__(
        self, instances: Instances, operations: Operations, *, taken_since: datetime | None = None
    ) -> None:
        self._instances = instances.items
        self._operations = operations.items
        self._taken = [
            operation
            for operation in operations.items
            if operation.kind in TAKEN
            and (taken_since is None or operation.at is None or operation.at >= taken_since)
        ]
        missing = sorted({*instances.unreachable, *operations.unreachable})
        self.unsure = f"unreachable: {', '.join(missing)}" if missing else ""

    @cached_property
    def _by_key(self) -> Mapping[tuple[str, str], list[Instance]]:
        """Made when it is first asked: most sweeps find every job whole, and look for nothing."""
        found: dict[tuple[str, str], list[Instance]] = defaultdict(list)
        for instance in self._instances:
            keys = [("id", instance.id), ("name", instance.name), ("job", instance.job or "")]
            if gang := NODE_OF_A_GANG.fullmatch(instance.name):
                keys.append(("gang", gang["job"]))
            for key in keys:
                found[key].append(instance)
        return found

    @cached_property
    def _log(self) -> Mapping[tuple[str, str], list[Operation]]:
        found: dict[tuple[str, str], list[Operation]] = defaultdict(list)
        for operation in self._operations:
            found["id", operation.target_id].append(operation)
            found["name", operation.target_name].append(operation)
        return found

    def instances(self, *, job: str, names: Iterable[str], ids: Iterable[str]) -> tuple[Instance, ...]:
        """Every instance with the job's label, one of the names or ids, or a name as a gang's node has it."""
        keys = [
            ("job", job),
            ("gang", job),
            *(("name", name) for name in names),
            *(("id", instance_id) for instance_id in ids),
        ]
        found = {instance.id: instance for key in keys for instance in self._by_key.get(key, ())}
        return tuple(found.values())

    def of_ids(self, ids: Iterable[str]) -> list[Instance]:
        """The instances with these ids that are there."""
        return [instance for wanted in ids for instance in self._by_key.get(("id", wanted), ())]

    @cached_property
    def _made(self) -> Mapping[tuple[str, str], list[Operation]]:
        """The inserts by name; those of a gang's names by its job, too."""
        found: dict[tuple[str, str], list[Operation]] = defaultdict(list)
        for operation in self._operations:
            if operation.kind == "bulkInsert":
                found["bulk", ""].append(operation)
            elif operation.kind == "insert":
                found["id", operation.target_id].append(operation)
                found["name", operation.target_name].append(operation)
                if gang := NODE_OF_A_GANG.fullmatch(operation.target_name):
                    found["gang", gang["job"]].append(operation)
        return found

    def inserts(self, *, job: str, names: Iterable[str], ids: Iterable[str] = ()) -> tuple[Operation, ...]:
        """Every insert of one of the names or ids, or of a name as a gang's node has it; all bulk inserts.

        Anybody can give a VM of any name the labels of a job: who inserted it is told by its id.
        """
        keys = [("gang", job), ("bulk", ""), *(("name", name) for name in names)]
        keys += [("id", instance_id) for instance_id in ids]
        found = {operation.name: operation for key in keys for operation in self._made.get(key, ())}
        return tuple(found.values())

    def speaks_of(self, node: str) -> bool:
        """Whether there is an instance of this name, or the log tells of one."""
        return bool(node) and (("name", node) in self._by_key or ("name", node) in self._log)

    def unwatched(self, known: set[str]) -> list[str]:
        """The jobs whose label a living instance has that is not known by id: one started again, perhaps."""
        jobs = [
            instance.job
            for instance in self._instances
            if instance.id not in known and instance.job and alive(instance)
        ]
        return list(dict.fromkeys(jobs))

    def removed_on_purpose(self) -> set[str]:
        """The ids of what people, or functions of ours, have deleted or stopped."""
        return {
            operation.target_id
            for operation in self._operations
            if operation.kind in REMOVALS
            and not operation.error
            and actor(operation.user) in {Actor.PERSON, Actor.OURS}
        }

    def unlisted(self, known: set[str]) -> list[str]:
        """The names of instances without our label that are not known by id: those there, and those taken."""
        names = [
            instance.name for instance in self._instances if instance.job is None and instance.id not in known
        ]
        return [
            *names,
            *(operation.target_name for operation in self._taken if operation.target_id not in known),
        ]

    def taken(self, job: str) -> list[Operation]:
        """The preemptions and host errors of instances of this name, or of a gang of it."""
        name = re.compile(rf"{re.escape(job)}(-\d+)?")
        return [operation for operation in self._taken if name.fullmatch(operation.target_name)]

    def done_to(self, names: Iterable[str]) -> tuple[Operation, ...]:
        """What the log tells of anything with one of these names, which no two things share."""
        return tuple(operation for name in names for operation in self._log.get(("name", name), ()))

    def history(
        self, instance_id: str, node: str, since: datetime | None, answered: frozenset[str]
    ) -> tuple[Operation, ...]:
        """The operations on an id, else those on the name since then; none that is answered, or older."""
        if instance_id:
            log = self._log.get(("id", instance_id), [])
        else:
            log = [operation for operation in self._log.get(("name", node), []) if _recent(operation, since)]
        names = [item.name in answered for item in log]
        past = len(names) - names[::-1].index(True) if any(names) else 0
        return tuple(log[past:])


def _recent(operation: Operation, since: datetime | None) -> bool:
    return operation.at is None or since is None or operation.at >= since - LOG_MARGIN
