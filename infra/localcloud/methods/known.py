"""Which method of Google's a request means, by the names and paths of its discovery documents.

`methods.txt` is derived from them by `tests/localcloud/conformance/write_methods.py`.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

ANY = "{}"
_UPLOAD = re.compile(r"^/(?:resumable/)?(?:upload|download)(?=/storage/)")
_VERSION = re.compile(r"^/compute/(?:alpha|beta)/")

Templates = Mapping[tuple[str, int], Sequence[tuple[Sequence[str], str]]]
"""For each verb and number of segments: the segments of each path, and the id of its method."""


def known_method(verb: str, path: str) -> str:
    """The id of the method, such as `storage.buckets.relocate`; "" where Google has none either."""
    plain = _VERSION.sub("/compute/v1/", _UPLOAD.sub("", path))
    segments = plain.removeprefix("/").split("/")
    for template, method in _templates().get((verb, len(segments)), ()):
        if all(map(_fits, template, segments)):
            return method
    return ""


def _fits(wanted: str, segment: str) -> bool:
    """`{}` is any segment, `{}:run` any that ends so."""
    if wanted.startswith(ANY):
        return bool(segment) and segment.endswith(wanted.removeprefix(ANY))
    return segment == wanted


@cache
def _templates() -> Templates:
    found: defaultdict[tuple[str, int], list[tuple[Sequence[str], str]]] = defaultdict(list)
    api = base = ""
    for line in files(__package__).joinpath("methods.txt").read_text(encoding="utf-8").splitlines():
        if not line.startswith(" "):
            api, _, base = line.partition(" ")
            continue
        name, verb, path = line.split()
        segments = (base + path).split("/")
        found[verb, len(segments)].append((segments, f"{api}.{name}"))
    return {key: sorted(templates, key=_asked_late) for key, templates in found.items()}


def _asked_late(template: tuple[Sequence[str], str]) -> tuple[bool, int]:
    """`…/{}:run` is asked before `…/{}`, which would take it for a name; `projects/{}` before `{}/{}`."""
    segments, _ = template
    return ":" not in segments[-1], sum(segment.startswith(ANY) for segment in segments)
