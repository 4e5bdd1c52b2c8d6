"""Requests that really run in the local cloud, and what is to be seen of them there."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from spotwarden.create_script import Defaults, ScriptRefused, requests
from spotwarden.model.request import Request
from tests.localcloud.compute.world import PROJECT, World
from tests.localcloud.conformance.discovery import Discovery

CONFIGURED = Defaults(project=PROJECT, zone="us-central1-a", region="us-central1")
Resources = dict[str, Mapping[str, Any]]


class Cloud:
    """The local cloud, by requests."""

    def __init__(self) -> None:
        self.world = World()

    def accepts(self, request: Request) -> bool:
        """Send a create request and let it come to its end; False where the cloud refuses it."""
        body = json.loads(json.dumps(request.body))
        answer = self.world.call(request.method, request.path, body, **request.query)
        self.world.advance(60)
        return answer.is_success and bool(self.instances())

    def instances(self) -> Resources:
        """All instances by name, as `instances.get` shows them."""
        return {one["name"]: one for one in self._all("instances")}

    def disks(self) -> Resources:
        """All disks by URL, as `disks.get` shows them."""
        return {one["selfLink"]: one for one in self._all("disks")}

    def _all(self, collection: str) -> Iterator[Mapping[str, Any]]:
        for scope in self.world.get(f"aggregated/{collection}")["items"].values():
            yield from scope.get(collection, ())

    def close(self) -> None:
        """End it; nothing in it may have failed, and all that was said must fit Google's own document."""
        self.world.close()
        assert not self.world.problems, self.world.problems
        google = Discovery.load("compute", "v1")
        said = [one for one in self.world.recorder.exchanges if google.covers(one.path)]
        assert [finding for exchange in said for finding in google.check(exchange)] == []


def scripts() -> Iterator[Request]:
    """The requests of all scripts of the corpus that make one."""
    for script in sorted((Path(__file__).parents[1] / "corpus").glob("*.sh")):
        folder = script.with_suffix(".files")
        found = [path for path in folder.rglob("*") if path.is_file()]
        files = {str(path.relative_to(folder)): path.read_bytes() for path in found}
        try:
            made = requests(script.read_bytes(), files=files, defaults=CONFIGURED)
        except ScriptRefused:
            continue
        if len(made) == 1:
            yield made[0]
