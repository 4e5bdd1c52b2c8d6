"""A gang that bends, whose records a test writes."""

import json
import re
from typing import Any

from tests.job.lab import Lab, Vm


class Bent:
    """A gang of three whose records a test writes, as recovery does."""

    def __init__(self, lab: Lab, name: str, command: str, **more: Any) -> None:
        self.lab, self.name, self.command, self.more = lab, name, command, more
        self.vms = {f"{name}-{rank}": self.boot(f"{name}-{rank}", 1) for rank in (1, 2, 3)}

    def boot(self, node: str, attempt: int, **more: Any) -> Vm:
        """Boot a VM that waits to be named."""
        more = {"spotwarden_setup": "echo set up", **self.more, **more, "NODES": "3", "spotwarden_joins": "1"}
        more["MASTER_ADDR"] = f"{self.name}-1"
        return self.lab.boot(
            node,
            spotwarden_job=self.name,
            spotwarden_command=self.command,
            spotwarden_attempt=str(attempt),
            **more,
        )

    def record(self, number: int, *nodes: str, lacking: str = "", removed: str = "") -> None:
        """Write who the members are, which VM is wanted back, and which one somebody has stopped."""
        ids = {node: self.vms[node].id for node in nodes}
        vm = self.vms.get(lacking)
        lost = {lacking: {"instance_id": vm.id, "since": "2026-01-05T09:00:00Z"}} if vm else {}
        body: dict[str, Any] = {"job": self.name, "number": number, "state": "running", "instances": ids}
        body |= {"bent": number > 1, "lacking": lost, "removed": self._removed(removed) if removed else {}}
        self.lab.write(f"{self.name}/metadata/attempts/{number}.json", json.dumps(body, indent=2))

    def _removed(self, node: str) -> dict[str, dict[str, str]]:
        """What a record says of a node that its owner has stopped."""
        done = {"operation": "operation-1", "kind": "stop", "user": "ada@example.com"}
        return {node: {"instance_id": self.vms[node].id, **done, "at": "2026-01-05T09:00:00Z"}}

    def ranks(self, epoch: int) -> dict[str, str]:
        """What the programs of an epoch have said of their ranks, by node."""
        return {
            node: found[1]
            for node, vm in self.vms.items()
            if (found := re.search(rf"epoch {epoch}: rank (\d of \d)", vm.said))
        }

    def until_all(self, epoch: int, nodes: int) -> list[str]:
        """Wait until so many nodes run in an epoch."""
        try:
            self.lab.until(lambda: len(self.ranks(epoch)) == nodes, f"{nodes} nodes in epoch {epoch}")
        except AssertionError as error:
            said = "\n".join(f"{node}:\n{vm.said}" for node, vm in self.vms.items())
            raise AssertionError(f"{error}\n{said}") from error
        return sorted(self.ranks(epoch).values())
