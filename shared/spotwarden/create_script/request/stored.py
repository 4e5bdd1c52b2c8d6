"""A stored script → what one attempt of its job sends, and where else it can be sent."""

import json
from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import sha256

from msgspec.structs import replace

from spotwarden.create_script.request.dns import followed, size_of_mentions, zonal_mentions
from spotwarden.create_script.request.place import Immovable, move, without_texts
from spotwarden.create_script.request.requested import launch_of_request, project_of
from spotwarden.create_script.request.slice import launch_of_slice, makes_slice
from spotwarden.model.attempt import Script
from spotwarden.model.facts import JobFacts
from spotwarden.model.gcloud import NEWEST
from spotwarden.model.launch import Choice, Launch, NoLaunch, StoredScript
from spotwarden.model.request import Request
from spotwarden.model.same import Same

KEPT_SCRIPTS = 1024
"""Scripts whose launch is remembered between sweeps: a job's script is the same each minute."""
KEPT_CHOICES = 128
"""Launches whose other places are remembered; these are larger."""
MOST_WRITTEN = 2 * 1024 * 1024
"""Characters of one launch that are looked at or written anew for its other places, all together.

One with 15,000 characters besides its metadata still has all zones that there are."""


def with_launch(facts: JobFacts, project: str, gcloud_version: int = NEWEST) -> JobFacts:
    """The facts, with what the job's script comes to in this project, read as this gcloud reads it."""
    if facts.script is None:
        return facts
    return replace(facts, launch=launch_of(facts.script, project, gcloud_version))


def launch_of(script: StoredScript, project: str, gcloud_version: int = NEWEST) -> Launch | NoLaunch:
    """The one request of this script, at home; or why a person must look at it."""
    if script.problem:
        return NoLaunch(reason=f"{script.name}: {script.problem}")
    if not isinstance(script.files, dict):  # files that are read when asked for, and only those
        return _read(script, project, gcloud_version)
    return _remembered(_Key(script), project, gcloud_version)


class _Key:
    """Equal for the same script and files, by their digests: the bytes themselves are not kept."""

    def __init__(self, script: StoredScript) -> None:
        files = tuple((path, sha256(data).digest()) for path, data in sorted(script.files.items()))
        self._said = (script.name, sha256(script.text).digest(), script.generation, files)
        self._script: StoredScript | None = script

    def __hash__(self) -> int:
        return hash(self._said)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and other._said == self._said

    def script(self) -> StoredScript:
        """The script, once."""
        script, self._script = self._script, None
        assert script is not None  # noqa: S101 — asked for where the key is new
        return script


@lru_cache(maxsize=KEPT_SCRIPTS)
def _remembered(key: _Key, project: str, gcloud_version: int) -> Launch | NoLaunch:
    return _read(key.script(), project, gcloud_version)


def _read(script: StoredScript, project: str, gcloud_version: int) -> Launch | NoLaunch:
    from spotwarden.create_script import Defaults, ScriptRefused, requests  # noqa: PLC0415 — the grammar loads on first use

    defaults = Defaults(project=project, gcloud_version=gcloud_version)
    try:
        found = requests(script.text, files=script.files, defaults=defaults)
    except ScriptRefused as refused:
        return NoLaunch(reason=f"{refused.file or script.name}:{refused.line}: {refused.reason}")
    if not makes_slice(found) and len(found) != 1:
        return NoLaunch(reason=f"{script.name}: {_several(found)}")
    if (named := project_of(found[0])) != project:
        return NoLaunch(reason=f"{script.name}: it creates in project {named}, but jobs run in {project}")
    version = Script(generation=script.generation, sha256=sha256(script.text).hexdigest())
    launch = launch_of_slice(found, version) if makes_slice(found) else launch_of_request(found[0], version)
    return launch if isinstance(launch, Launch) else NoLaunch(reason=f"{script.name}: {launch.reason}")


def _several(found: Sequence[Request]) -> str:
    count = f"it makes {len(found)} create requests, and a job must have exactly one"
    names = [str(request.body.get("name", "")) for request in found]
    if not names or not all(names):
        return count
    # gcloud sends one insert for each name: some may succeed where others fail.
    return (
        f"{count}; for a gang write `bulk create --predefined-names={','.join(names)}`, which is all or none"
    )


def with_choices(launch: Launch, zones: Sequence[str]) -> Launch:
    """The launch with a choice for each of these zones that it can move to, in their order, behind home.

    A regional request has one choice for each region. `fixed` says why it cannot go to the others.
    """
    if launch.slice is not None:
        return launch
    return _with_choices(Same(launch), tuple(zones))


@lru_cache(maxsize=KEPT_CHOICES)
def _with_choices(same: Same[Launch], zones: tuple[str, ...]) -> Launch:
    launch = same.it
    choices, fixed = {launch.place: launch.choices[0]}, list[str]()
    for found in _moves(launch, zones):
        if isinstance(found, Choice):
            choices.setdefault(found.place, found)
        else:
            fixed += found.reasons
    return replace(launch, choices=tuple(choices.values()), fixed=tuple(dict.fromkeys(fixed)))


def _moves(launch: Launch, zones: Sequence[str]) -> Iterator[Choice | Immovable]:
    home = launch.choices[0]
    regional = "/regions/" in home.request.path
    keys = zonal_mentions(launch.request, launch.nodes) if regional else ()
    left, size = MOST_WRITTEN, _size(launch)
    for zone in zones:
        place = zone.rpartition("-")[0] if regional else zone
        if place == home.place:
            continue
        left -= size
        if left < 0:
            yield Immovable(reasons=("its request is too large to be written for any further place",))
            return
        moved = _moved_region(launch, zone, keys) if regional else _moved_zone(launch, zone)
        yield moved if isinstance(moved, Immovable) else Choice(place=place, request=moved)


def _size(launch: Launch) -> int:
    """Characters that are looked at or written for each other place: not the words of its user."""
    request = launch.request
    return len(json.dumps(without_texts(request.body))) + size_of_mentions(request, launch.place)


def _moved_zone(launch: Launch, zone: str) -> Request | Immovable:
    moved = move(launch.request, zone)
    if isinstance(moved, Immovable):
        return moved
    return followed(moved, launch.nodes, launch.place, zone)


def _moved_region(launch: Launch, zone: str, keys: Sequence[str]) -> Request | Immovable:
    moved = move(launch.request, zone)
    if isinstance(moved, Immovable) or not keys:
        return moved
    names = ", ".join(keys)
    return Immovable(
        reasons=(f"the metadata {names} names a node in one zone, but the request leaves the zone open",)
    )
