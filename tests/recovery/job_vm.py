"""A job VM that runs somebody else's code: it writes what Terraform lets it write, and nothing else."""

import re
from functools import cache
from pathlib import Path
from typing import Any

from spotwarden.layout import ObjectName

TERRAFORM = Path(__file__).resolve().parents[2] / "infra" / "terraform" / "bucket.tf"


@cache
def patterns() -> list[str]:
    """`job_vm_writes` of the deployment; tests of Terraform hold the condition that is made of it."""
    (listed,) = re.findall(r"job_vm_writes = \[(.*?)\]", TERRAFORM.read_text(), re.DOTALL)
    return re.findall(r'"([^"]+)"', listed)


class JobVm:
    """Writes into the bucket of a world."""

    def __init__(self, world: Any) -> None:
        self._world = world

    def write(self, thing: ObjectName | str, data: bytes = b"", **metadata: str) -> None:
        """Write an object with this beside it; `PermissionError` where a job VM may not."""
        name = thing if isinstance(thing, str) else self._world.layout.build(thing)
        if not any(_fits(pattern, name) for pattern in patterns()):
            raise PermissionError(name)
        self._world.cloud.store.put(name, data, metadata)

    def delete(self, thing: ObjectName) -> None:
        """Delete an object, which takes the same right."""
        self.write(thing)
        name = self._world.layout.build(thing)
        self._world.cloud.store.delete(name, generation=self._world.cloud.store.read(name).generation)


def _fits(pattern: str, name: str) -> bool:
    regex = re.escape(pattern).replace(re.escape("{job}"), "(?!spotwarden/)[^/]+")
    return re.fullmatch(regex + (".*" if pattern.endswith("/") else ""), name) is not None
