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

Late = tuple[bool, int, int]
"""How late a template is asked: `…/{}:run` before `…/{}`, which would take it for a name; `projects/{}`
before `{}/{}`; else as they are listed."""

Templates = Sequence[tuple[Sequence[int], Mapping[Sequence[str], tuple[Late, str]]]]
"""Those of one verb and number of segments: by the places where `{}` stands, and then by all segments, the id
of the method and how late it is asked."""


def known_method(verb: str, path: str) -> str:
    """The id of the method, such as `storage.buckets.relocate`; "" where Google has none either."""
    plain = _VERSION.sub("/compute/v1/", _UPLOAD.sub("", path))
    segments = plain.removeprefix("/").split("/")
    if not all(segments):  # `{}` is any segment that is there
        return ""
    folders, last = segments[:-1], segments[-1]
    _, colon, action = last.rpartition(":")
    lasts = [last, f"{ANY}:{action}"] if colon else [last]
    found = [
        known
        for places, methods in _templates().get((verb, len(segments)), ())
        for segment in lasts
        if (known := methods.get(_with_any([*folders, segment], places)))
    ]
    return min(found)[1] if found else ""


def _with_any(segments: list[str], places: Sequence[int]) -> Sequence[str]:
    for place in places:
        segments[place] = ANY
    return tuple(segments)


@cache
def _templates() -> Mapping[tuple[str, int], Templates]:
    found: defaultdict[tuple[str, int], defaultdict[Sequence[int], dict[Sequence[str], tuple[Late, str]]]]
    found = defaultdict(lambda: defaultdict(dict))
    api = base = ""
    lines = files(__package__).joinpath("methods.txt").read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines):
        if not line.startswith(" "):
            api, _, base = line.partition(" ")
            continue
        name, verb, path = line.split()
        segments = tuple((base + path).split("/"))
        places = tuple(place for place, segment in enumerate(segments) if segment == ANY)
        late = ":" not in segments[-1], sum(segment.startswith(ANY) for segment in segments), number
        found[verb, len(segments)][places].setdefault(segments, (late, f"{api}.{name}"))
    return {key: tuple(templates.items()) for key, templates in found.items()}
