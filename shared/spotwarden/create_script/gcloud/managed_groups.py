"""Managed instance groups, such as those that form TPU slices of several hosts: no job of ours, and why.

A group makes its VMs by itself, under names of its own, and makes them again or not as its own rules say.
"""

from collections.abc import Sequence

from spotwarden.create_script.refusal import ScriptRefused

_GROUPS = ("compute", "instance-groups", "managed")
_MAKE = frozenset(("create", "create-instance", "resize", "resize-requests"))


def makes_group(path: Sequence[str]) -> bool:
    """Whether a command has a managed instance group make VMs; the words of its name, and more, are given."""
    return tuple(path[:3]) == _GROUPS and len(path) > len(_GROUPS) and path[3] in _MAKE


def refuse_group(line: int) -> None:
    """Say why a script that makes nothing else is no job, and what to write instead.

    Raises:
        ScriptRefused: always.
    """
    raise ScriptRefused(
        "a managed instance group makes its VMs by itself, so Spotwarden can't restart them; write gcloud"
        " compute instances create for one VM, or bulk create for several. TPU slices of several hosts need"
        " such a group: Spotwarden launches TPUs of one host only, such as ct6e-standard-8t",
        line=line,
    )
