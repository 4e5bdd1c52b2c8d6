"""Managed instance groups that are no TPU slice: no job of ours, and why.

A group makes its VMs by itself, under names of its own, and makes them again or not as its own rules say.
"""

from collections.abc import Sequence

from spotwarden.create_script.refusal import ScriptRefused

_GROUPS = ("compute", "instance-groups", "managed")
_FILL = frozenset(("create-instance", "resize", "resize-requests"))


def fills_group(path: Sequence[str]) -> bool:
    """Whether a command has a group that is there make VMs; the words of its name, and more, are given."""
    return tuple(path[:3]) == _GROUPS and len(path) > len(_GROUPS) and path[3] in _FILL


def refuse_group(line: int, why: str = "") -> None:
    """Say why a script that makes nothing else is no job, and what to write instead.

    Raises:
        ScriptRefused: always.
    """
    reason = "a managed instance group makes its VMs by itself, so Spotwarden can't restart them"
    raise ScriptRefused(
        f"{why or reason}; write gcloud compute instances create for one VM, or bulk create for several. A "
        "TPU slice of several hosts is a workload policy with an accelerator topology, an instance template "
        "and a group with both, all created by the script",
        line=line,
    )
