"""A stored script → what one attempt of its job sends."""

import json
from hashlib import sha256

from msgspec.structs import replace

from spotwarden.model.attempt import Script
from spotwarden.model.facts import JobFacts
from spotwarden.model.launch import Launch, NoLaunch, StoredScript
from spotwarden.model.request import Request


def with_launch(facts: JobFacts, project: str) -> JobFacts:
    """The facts, with what the job's script comes to in this project."""
    if facts.script is None:
        return facts
    return replace(facts, launch=launch_of(facts.script, project))


def launch_of(script: StoredScript, project: str) -> Launch | NoLaunch:
    """The one request of this script, or why a person must look at it."""
    from spotwarden.script import Defaults, Refused, requests  # noqa: PLC0415 — the grammar loads on first use

    try:
        found = requests(script.text, files=script.files, defaults=Defaults(project=project))
    except Refused as refused:
        return NoLaunch(reason=f"{refused.file or script.name}:{refused.line}: {refused.reason}")
    if len(found) != 1:
        return NoLaunch(reason=f"{script.name}: it makes {len(found)} create requests, and a job is one")
    return _single(script, found[0])


def _single(script: StoredScript, request: Request) -> Launch | NoLaunch:
    *_, scope, zone, _instances = request.path.split("/")
    if scope != "zones" or "name" not in request.body:
        return NoLaunch(
            reason=f"{script.name}: bulk create is not brought back yet; only a job of one instance is"
        )
    # The translation marks URLs by a type of its own; what is sent and stored is plain JSON.
    request = replace(request, body=json.loads(json.dumps(request.body)))
    version = Script(generation=script.generation, sha256=sha256(script.text).hexdigest())
    return Launch(node=str(request.body["name"]), place=zone, request=request, script=version)
