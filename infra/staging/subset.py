"""Take out of the one lock what some extras of the project need: `subset.py LOCK PYPROJECT EXTRA…`.

The lock says behind each package who asked for it ("# via"), so the packages of an extra are those
that can be reached from its roots. Only the standard library is used: this runs before anything is installed.
"""

import re
import sys
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path

ROOT = "spotwarden (pyproject.toml)"


def blocks(lock: str) -> Mapping[str, str]:
    """Each package's lines of the lock, by its normalised name, of all its versions."""
    found: dict[str, str] = {}
    for block in re.split(r"(?m)^(?=[A-Za-z0-9])", lock)[1:]:
        name = normal(re.split(r"[=\[ ]", block, maxsplit=1)[0])
        found[name] = found.get(name, "") + block
    return found


def askers(block: str) -> set[str]:
    """Who asked for the package of this block."""
    lines = re.findall(r"(?m)^ +# (?:via)? *(.*)$", block)
    return {line if line == ROOT else normal(line) for line in lines if line}


def normal(name: str) -> str:
    """A name as packages are compared by (PEP 503), without extras and versions."""
    return re.sub(r"[-_.]+", "-", re.split(r"[<>=!~;\[ ]", name.strip(), maxsplit=1)[0]).lower()


def subset(lock: str, roots: Iterable[str]) -> str:
    """The part of the lock that these packages need, hashes and all.

    Raises:
        SystemExit: a root is not in the lock.
    """
    packages = blocks(lock)
    wanted = {normal(root) for root in roots}
    if missing := sorted(wanted - set(packages)):
        sys.exit(f"not in the lock, which is older than pyproject.toml: {', '.join(missing)}")
    asked = {name: askers(block) for name, block in packages.items()}
    while more := {name for name, by in asked.items() if name not in wanted and by & wanted}:
        wanted |= more
    return "".join(block for name, block in packages.items() if name in wanted)


def main(lock: str, pyproject: str, *extras: str) -> None:
    """Print the subset for the project's own dependencies and these extras."""
    project = tomllib.loads(Path(pyproject).read_text(encoding="utf-8"))["project"]
    roots = [*project["dependencies"]]
    for extra in extras:
        roots += project["optional-dependencies"][extra]
    sys.stdout.write(subset(Path(lock).read_text(encoding="utf-8"), roots))


if __name__ == "__main__":
    main(*sys.argv[1:])
