"""The requests for the parts of a TPU slice → the launch of a job's nodes."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from spotwarden.create_script.request.requested import (
    is_spot,
    path_of_slice,
    project_of,
    too_much_metadata,
)
from spotwarden.model.attempt import Script
from spotwarden.model.launch import Choice, Launch, NoLaunch
from spotwarden.model.request import Request
from spotwarden.model.slices import LONGEST_NAME, SliceParts
from spotwarden.model.tpus import hosts_of

STAYS = "a TPU slice stays in its zone: its workload policy belongs to the region, and its TPUs to the zone"


def makes_slice(requests: Sequence[Request]) -> bool:
    """Whether these are the requests for a slice, of which the last makes the group."""
    return bool(requests) and path_of_slice(requests[-1]) is not None


def launch_of_slice(requests: Sequence[Request], script: Script | None = None) -> Launch | NoLaunch:
    """The launch that these requests make, in its zone only: a policy or none, the template, the group.

    Its VMs are numbered from 1 on behind the name of the group, with as many digits as the last one needs.
    """
    # The translation marks URLs by a type of its own; what is sent and stored is plain JSON.
    *policies, template, group = (
        replace(request, query=dict(request.query), body=json.loads(json.dumps(request.body)))
        for request in requests
    )
    projects = sorted({project_of(request) for request in (*policies, template, group)})
    if len(projects) > 1:
        return NoLaunch(reason=f"the parts of its TPU slice are in several projects: {', '.join(projects)}")
    properties: Mapping[str, Any] = template.body["properties"]
    if reason := too_much_metadata(properties):
        return NoLaunch(reason=reason)
    name, machine = str(group.body["name"]), str(properties["machineType"])
    if len(name) > LONGEST_NAME:
        return NoLaunch(
            reason=f"the name of its group has {len(name)} characters; write one of at most {LONGEST_NAME}"
        )
    hosts: int | str = int(group.body["targetSize"])
    if policies:
        hosts = hosts_of(machine, str(policies[0].body["workloadPolicy"].get("acceleratorTopology", "")))
    if isinstance(hosts, str):
        return NoLaunch(reason=hosts)
    place = path_of_slice(group)
    return Launch(
        nodes=tuple(f"{name}-{number:0{len(str(hosts))}}" for number in range(1, hosts + 1)),
        choices=(Choice(place=place or "", request=group),),
        script=script,
        machine=machine,
        spot=is_spot(properties.get("scheduling", {})),
        flexible=properties.get("scheduling", {}).get("provisioningModel") == "FLEX_START",
        gang=True,
        fixed=(STAYS,),
        slice=SliceParts(policy=policies[0] if policies else None, template=template, group=group),
    )
