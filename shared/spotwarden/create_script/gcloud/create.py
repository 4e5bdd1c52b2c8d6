"""One create command → the requests that gcloud would send for it."""

from urllib.parse import quote

from spotwarden.create_script.gcloud import bulk, container, instance
from spotwarden.create_script.gcloud.commands import CommandLine
from spotwarden.create_script.gcloud.config import FAMILY_SCOPE, ZONE, Config
from spotwarden.create_script.gcloud.letters import BULK, CONTAINER, CREATE
from spotwarden.create_script.gcloud.links import ResourceLink
from spotwarden.create_script.gcloud.network import interfaces
from spotwarden.create_script.gcloud.opening import open_command
from spotwarden.create_script.gcloud.request import Request
from spotwarden.create_script.gcloud.scene import GcloudScene
from spotwarden.create_script.gcloud.security import key_ring
from spotwarden.create_script.gcloud.sending import request_to
from spotwarden.create_script.refusal import ScriptRefused
from spotwarden.create_script.request.command import SimpleCommand


def requests_of(line: CommandLine, command: SimpleCommand, config: Config) -> list[Request]:
    """Translate one create; `line` is the reading of `command`.

    Raises `ScriptRefused` where gcloud would refuse, and where it would ask the API or a person something.
    """
    opened = open_command(line.leaf or CREATE, line, command, config)
    scene = opened.scene
    args = scene.args
    unscoped = scene.command == CREATE and not args["image-family-scope"]
    if unscoped and (scope := opened.configured(FAMILY_SCOPE)):
        args.put("image-family-scope", scope, command.line)
    if scene.command == BULK:
        return [_bulk_request(scene)]
    return _machine_requests(scene, None if args.given("zone") else opened.configured(ZONE))


def _bulk_request(scene: GcloudScene) -> Request:
    args = scene.args
    flag = "region" if args.given("region") else "zone"
    place = args[flag]
    if not place:
        raise args.refusal(flag, f"is empty; name a {flag}")
    bulk.check(args, scene.version)
    scene = scene.at(scene.home, place, regional=flag == "region")
    instance.check(scene)
    path = f"{flag}s/{quote(place, safe='')}/instances/bulkInsert"
    return request_to(scene, path, bulk.bulk_insert(scene))


def _machine_requests(scene: GcloudScene, configured_zone: str | None) -> list[Request]:
    """Translate a command that names its machines, each by its bare name or by a URL of its own."""
    refs = _machines(scene, configured_zone)
    args = scene.args
    if len(refs) > 1 and args.given("address"):
        raise args.refusal("address", "is for one machine only; leave it out, or create one machine")
    first = scene.at(refs[0].parts["project"], refs[0].parts["zone"])
    if scene.command == CONTAINER:
        container.check(first)
    instance.check(first)
    # gcloud reads the keys also where no disk is made that one could be for.
    key_ring(first)
    # In gcloud's order: a URL in one of these may move the names behind it to another version.
    template, machine_image = instance.template_of(first), instance.machine_image_of(first)
    network = interfaces(first)
    image = container.container_image(first) if scene.command == CONTAINER else instance.boot_source(first)
    shared = instance.Shared(network=network, image=image, machine_image=machine_image)
    query = {"sourceInstanceTemplate": template} if template else {}
    body = container.container_instance if scene.command == CONTAINER else instance.instance
    requests = []
    for ref in refs:
        here = scene.at(ref.parts["project"], ref.parts["zone"])
        path = f"zones/{quote(here.place, safe='')}/instances"
        requests.append(request_to(here, path, body(here, ref.parts["name"], shared), query))
    return requests


def _machines(scene: GcloudScene, configured_zone: str | None) -> list[ResourceLink]:
    args = scene.args
    zone = configured_zone
    if args.given("zone"):
        zone = scene.link("zone", args["zone"], "zones", project=scene.home).parts["name"]
    if not args.names:
        raise ScriptRefused("the machine needs a name; write it behind `create`")
    refs = []
    for token in args.names:
        try:
            ref = scene.links.find(token.value, "instances", project=scene.home, zone=zone)
        except ScriptRefused as refused:
            raise ScriptRefused(refused.reason, line=token.line) from None
        for part, value in ref.parts.items():
            if not value or "/" in value:
                raise ScriptRefused(
                    f"{value!r} is not a valid name of a {part.replace('name', 'machine')}", line=token.line
                )
        refs.append(ref)
    return refs
