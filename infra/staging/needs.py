"""What a function must have installed: the few packages that its folder names, and what those need in turn.

The lock says who asked for a package, but not under which extra: gRPC would come along with everything that
could use it. So what a package needs is read from the package itself, as installed here from the same lock.
"""

import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from subset import blocks, normal

PLATFORM = {
    "implementation_name": "cpython",
    "os_name": "posix",
    "platform_machine": "x86_64",
    "platform_python_implementation": "CPython",
    "platform_system": "Linux",
    "sys_platform": "linux",
}
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
"""A package that any of these needs is in the file; whoever needs it not leaves it out by its marker."""


def requirements(folder: Path, lock: str) -> str:
    """The `requirements.txt` of a function's folder, with versions and hashes, and all that it draws in.

    Raises:
        SystemExit: a package is not in the lock, or not installed here.
    """
    text = (folder / "requirements.txt").read_text(encoding="utf-8")
    names = closure(line for line in text.splitlines() if line and not line.startswith("#"))
    locked = blocks(lock)
    if missing := sorted(names - set(locked)):
        sys.exit(f"{folder.name} needs what is not in the lock: {', '.join(missing)}")
    return "".join(_bare(locked[name]) for name in sorted(names))


def closure(roots: Iterable[str]) -> set[str]:
    """These packages and all that they need on the platform, by their normalised names."""
    found: set[tuple[str, str]] = set()
    waiting = [(normal(root), extra) for root in roots for extra in ("", *Requirement(root).extras)]
    while waiting:
        package, extra = waiting.pop()
        if (package, extra) not in found:
            found.add((package, extra))
            waiting += _needed(package, extra)
    return {package for package, _ in found}


@cache
def _needed(package: str, extra: str) -> frozenset[tuple[str, str]]:
    """What an installed package needs, under one of its extras or under none."""
    return frozenset(_wanted(package, extra))


def _wanted(package: str, extra: str) -> Iterator[tuple[str, str]]:
    try:
        lines = requires(package) or []
    except PackageNotFoundError:
        sys.exit(f"{package} is not installed here; stage from an environment that the lock made")
    for line in lines:
        requirement = Requirement(line)
        if requirement.marker is None or any(_applies(requirement, extra, python) for python in PYTHONS):
            for wanted in ("", *requirement.extras):
                yield canonicalize_name(requirement.name), wanted


def _applies(requirement: Requirement, extra: str, python: str) -> bool:
    there = {**PLATFORM, "python_version": python, "python_full_version": f"{python}.0", "extra": extra}
    return requirement.marker is None or requirement.marker.evaluate(there)


def _bare(block: str) -> str:
    """A package's lines without the word on who asked for it."""
    return re.sub(r"(?m)^ +#.*\n", "", block)
