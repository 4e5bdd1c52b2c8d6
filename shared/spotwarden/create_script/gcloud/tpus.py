"""`gcloud compute tpus tpu-vm create` and `… queued-resources create`: refused, with what to write instead.

They make a node of the Cloud TPU API, which is no instance: Compute Engine does not list it by that name, and
its images (`--version`) are not those of instances. To launch an instance in its place without being told
would make two of them where the script was run by hand.
"""

import shlex
from collections.abc import Iterator, Mapping, Sequence

from spotwarden.create_script.gcloud.argv import ArgToken
from spotwarden.create_script.gcloud.links import region_of
from spotwarden.create_script.refusal import ScriptRefused
from spotwarden.model.tpus import IMAGE_PROJECT, TpuHost, TpuSlice, tpu_host, tpu_slice

_CREATES = (("compute", "tpus", "tpu-vm", "create"), ("compute", "tpus", "queued-resources", "create"))
_DEFAULT = "v2-8"
"""The accelerator type of gcloud where none is given."""
_SWITCHES = frozenset({
    "async", "best-effort", "guaranteed", "internal-ips", "preemptible", "quiet", "reserved",
    "shielded-secure-boot", "spot",
})  # fmt: skip
_SAME = {
    "network": "network",
    "subnetwork": "subnet",
    "tags": "tags",
    "labels": "labels",
    "description": "description",
    "service-account": "service-account",
    "metadata": "metadata",
    "metadata-from-file": "metadata-from-file",
    "max-run-duration": "max-run-duration",
}
"""A flag of theirs, and the one of an instance that means the same."""
_PLACES = ("zone", "project")
_LONGEST = 80
"""What is longer stands in the script, and is not said again."""


def creates_tpu_node(path: Sequence[str]) -> bool:
    """Whether a command makes a node of the Cloud TPU API; the words of its name, and more, are given."""
    return tuple(path[:4]) in _CREATES


def refuse_tpu_node(tokens: Sequence[ArgToken], line: int) -> None:
    """Say why the command cannot be run again, and which command makes an instance with these TPUs.

    Raises:
        ScriptRefused: always.
    """
    flags, name = _read([str(token.value) for token in tokens if isinstance(token.value, str)])
    why = "a node of the Cloud TPU API is not an instance, so it can't be restarted"
    if any(not isinstance(token.value, str) for token in tokens):
        raise ScriptRefused(
            f"{why}; write gcloud compute instances create with the machine type of the TPU", line=line
        )
    if "topology" in flags or "node-count" in flags or "node-prefix" in flags:
        raise ScriptRefused(f"{why}; give --accelerator-type for one VM, such as v6e-4", line=line)
    said = flags.get("accelerator-type", _DEFAULT)
    if found := tpu_slice(said):
        commands = "`, `".join(" ".join(words) for words in _slice_instead(flags, name, found))
        raise ScriptRefused(f"{why}; {said} is {found.hosts} VMs; write `{commands}`", line=line)
    host = tpu_host(said)
    if isinstance(host, str):
        raise ScriptRefused(f"{why}, and there is no VM with its TPUs: {host}", line=line)
    instead = " ".join(_instead(flags, name, host))
    raise ScriptRefused(f"{why}; write `{instead}`; its image has no docker", line=line)


def _read(words: Sequence[str]) -> tuple[Mapping[str, str], str]:
    """The flags of such a command, and the name of its node."""
    flags: dict[str, str] = {}
    names: list[str] = []
    rest = iter(words[words.index("create") + 1 :])
    for word in rest:
        flag, equals, value = word.removeprefix("--").partition("=")
        if not word.startswith("--"):
            names.append(word)
        elif equals or flag in _SWITCHES:
            flags[flag] = value
        else:
            flags[flag] = next(rest, "")
    return flags, flags.get("node-id") or (names[0] if names else "NAME")


def _instead(flags: Mapping[str, str], name: str, host: TpuHost) -> Iterator[str]:
    """The command for an instance, with the disk and the scopes that the API gives a node by itself."""
    yield f"gcloud compute instances create {_word(name)} --machine-type={host.machine}"
    yield from _machine(flags, host)
    for theirs in _PLACES:
        if value := flags.get(theirs):
            yield f"--{theirs}={_word(value)}"
    if value := flags.get("valid-until-duration"):
        yield f"--request-valid-for-duration={_word(value)}"


def _slice_instead(flags: Mapping[str, str], name: str, found: TpuSlice) -> Iterator[list[str]]:
    """The three commands for a slice: its workload policy, its template, its group."""
    zone, project = flags.get("zone", "ZONE"), flags.get("project")
    region = region_of(zone) if "zone" in flags else "REGION"
    own = [f"--project={_word(project)}"] if project else []
    policy, template, bulk = f"{name}-policy", f"{name}-template", _model(flags) == "FLEX_START"
    yield [
        f"gcloud compute resource-policies create workload-policy {_word(policy)} --type=high-throughput",
        *(f"--accelerator-topology={found.topology}", f"--region={_word(region)}", *own),
    ]
    yield [
        f"gcloud compute instance-templates create {_word(template)} --machine-type={found.host.machine}",
        *(
            *_machine(flags, found.host),
            *([f"--region={_word(region)}"] if "subnetwork" in flags else []),
            *own,
        ),
    ]
    yield [
        f"gcloud compute instance-groups managed create {_word(name)} --size={found.hosts}",
        *(f"--template={_word(template)}", f"--workload-policy={_word(policy)}", f"--zone={_word(zone)}"),
        *(["--target-size-policy-mode=bulk", "--default-action-on-vm-failure=do-nothing"] if bulk else []),
        *own,
    ]


def _machine(flags: Mapping[str, str], host: TpuHost) -> Iterator[str]:
    """The flags that say what a VM is, in whichever command."""
    yield f"--image-family={host.image} --image-project={IMAGE_PROJECT}"
    yield "--boot-disk-size=100GB --maintenance-policy=TERMINATE"
    yield f"--scopes={_word(flags.get('scopes') or 'cloud-platform')}"
    for theirs, ours in _SAME.items():
        if value := flags.get(theirs):
            yield f"--{ours}={_word(value)}"
    if "internal-ips" in flags:
        yield "--no-address"
    if model := _model(flags):
        yield f"--provisioning-model={_word(model)} --instance-termination-action=DELETE"


def _word(value: str) -> str:
    return shlex.quote(value) if len(value) <= _LONGEST else "…"


def _model(flags: Mapping[str, str]) -> str:
    if given := flags.get("provisioning-model"):
        return given.upper().replace("-", "_")
    return "SPOT" if flags.keys() & {"spot", "preemptible", "best-effort"} else ""
