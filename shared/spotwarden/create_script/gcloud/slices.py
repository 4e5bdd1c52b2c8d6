"""What a script says of a TPU slice of several hosts: a workload policy, a template, a group of both.

A managed instance group makes its VMs by itself. Spotwarden makes such a group anew for each attempt, so it
must know all that makes it: a slice is what this script creates, and nothing else.
"""

from collections.abc import Iterator, Sequence

import msgspec

from spotwarden.create_script.gcloud.letters import GROUP, POLICY, TEMPLATE
from spotwarden.create_script.gcloud.managed_groups import refuse_group
from spotwarden.create_script.gcloud.request import Request
from spotwarden.create_script.refusal import ScriptRefused
from spotwarden.model.tpus import hosts_of, is_slice_machine

_FEWEST = 2


class ReadPart(msgspec.Struct, frozen=True, kw_only=True):
    """One command for a part: what it is, its line, and what gcloud would send, or why it is refused."""

    command: str
    line: int
    found: Request | ScriptRefused


class SliceReading:
    """Collects the parts; they are a job where the script creates no instance besides."""

    def __init__(self) -> None:
        self.parts: list[ReadPart] = []

    @property
    def groups(self) -> list[ReadPart]:
        """The groups that the script creates."""
        return [part for part in self.parts if part.command == GROUP]

    def requests(self, *, filled: bool) -> Iterator[Request]:
        """The requests that make the slice, in their order; the first is for the policy, if it is created.

        `filled` says that the script has its group make VMs once it is there.

        Raises:
            ScriptRefused: a group is no slice, or not all that makes it is known.
        """
        *others, last = self.groups
        if others:
            raise ScriptRefused(
                "it creates several managed instance groups, and a job is one slice; write a script for each",
                line=last.line,
            )
        group = _taken(last)
        policy = self._made(POLICY, group.body.get("resourcePolicies", {}).get("workloadPolicy", ""))
        template = self._made(TEMPLATE, group.body["instanceTemplate"])
        if template is None:
            raise ScriptRefused(
                f"the template {_last(group.body['instanceTemplate'])} is not created by this script, so "
                "what its VMs are is unknown; add its gcloud compute instance-templates create",
                line=last.line,
            )
        made = [_taken(part) for part in (policy, template) if part is not None]
        _check(made, group, last.line, filled=filled)
        yield from made
        yield group

    def _made(self, command: str, link: str) -> ReadPart | None:
        """The part that a link names, as far as this script creates it."""
        own = [part for part in self.parts if part.command == command]
        named = [part for part in own if _name(part) == _last(link)]
        # One that can't be read is told of: it may be the one that is meant.
        refused = [part for part in own if isinstance(part.found, ScriptRefused)]
        return next(iter(named[-1:] or refused), None) if link else None


def _check(made: Sequence[Request], group: Request, line: int, *, filled: bool) -> None:
    """Raise `ScriptRefused` for a group that is no TPU slice of several hosts, as far as the script tells."""
    *policies, template = made
    machine = str(template.body["properties"].get("machineType", ""))
    size = int(group.body["targetSize"])
    if not is_slice_machine(machine):
        refuse_group(line, f"a group of {machine} is no TPU slice, and makes its VMs by itself")
    if not group.body.get("resourcePolicies", {}).get("workloadPolicy"):
        refuse_group(line, "without --workload-policy the TPUs of a group are not connected")
    if not policies:
        if size < _FEWEST:
            refuse_group(line, f"a group of {size} VMs isn't a slice")
        return
    topology = str(policies[0].body["workloadPolicy"].get("acceleratorTopology", ""))
    if not topology:
        refuse_group(line, "without --accelerator-topology in its workload policy a group is no slice")
    hosts = hosts_of(machine, topology)
    if isinstance(hosts, str):
        raise ScriptRefused(hosts, line=line)
    if size != hosts and not (filled and size == 0):
        raise ScriptRefused(
            f"--size={size}: a topology of {topology} takes {hosts} VMs of {machine}; write --size={hosts}",
            line=line,
        )


def _taken(part: ReadPart) -> Request:
    if isinstance(part.found, ScriptRefused):
        raise part.found
    return part.found


def _name(part: ReadPart) -> str:
    """The name of what a part makes; "" of a refused one."""
    return "" if isinstance(part.found, ScriptRefused) else str(part.found.body["name"])


def _last(link: str) -> str:
    return link.rpartition("/")[2]
