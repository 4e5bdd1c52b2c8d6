"""One create command → the requests that gcloud would send for it."""

import re
from collections.abc import Mapping
from functools import partial
from typing import Any
from urllib.parse import quote

from spotwarden.create_script.gcloud import bulk, container, groups, instance
from spotwarden.create_script.gcloud.argv import Args, parse
from spotwarden.create_script.gcloud.commands import PREVIEW, CommandLine
from spotwarden.create_script.gcloud.config import FAMILY_SCOPE, PROJECT, ZONE, Config, check_project
from spotwarden.create_script.gcloud.files import content
from spotwarden.create_script.gcloud.flagfile import expand
from spotwarden.create_script.gcloud.flagset import flags_of, global_flags
from spotwarden.create_script.gcloud.letters import BULK, CONTAINER, CREATE
from spotwarden.create_script.gcloud.links import ResourceLink, ResourceLinks
from spotwarden.create_script.gcloud.missing import missing_flag
from spotwarden.create_script.gcloud.network import interfaces
from spotwarden.create_script.gcloud.request import Request
from spotwarden.create_script.gcloud.scene import GcloudScene
from spotwarden.create_script.gcloud.security import key_ring
from spotwarden.create_script.gcloud.surface import Taker
from spotwarden.create_script.gcloud.values import Misfit
from spotwarden.create_script.refusal import ScriptRefused
from spotwarden.create_script.request.command import SimpleCommand

# The words of `gcloud topic formats`; gcloud itself finds a wrong one only after the create.
_FORMATS = "config|csv|default|diff|disable|flattened|get|json|list|multi|none|object|table|text|value|yaml"
_FORMAT = re.compile(rf"\s*(?:{_FORMATS})(?![\w-])")
_TOKEN_FILES = ("access-token-file", "authorization-token-file")


def requests_of(line: CommandLine, command: SimpleCommand, config: Config) -> list[Request]:
    """Translate one create; `line` is the reading of `command`.

    Raises `ScriptRefused` where gcloud would refuse, and where it would ask the API or a person something.
    """
    leaf = line.leaf or CREATE
    # The track preview has the flags of v1, and sends to v1.
    track = "v1" if line.track == PREVIEW else line.track
    args = _read_args(line, Taker(command=leaf, track=track, version=config.gcloud_version), command)
    config.check(command.environment, line=command.line)
    groups.check(args, leaf)
    _check_globals(args, command.files)

    def configured(name: str) -> str | None:
        return config.get(name, command.environment, args["configuration"], line=command.line)

    if leaf == CREATE and not args["image-family-scope"] and (scope := configured(FAMILY_SCOPE)):
        args.put("image-family-scope", scope, command.line)
    home = args["project"] if args.given("project") else configured(PROJECT)
    if home is None:
        raise ScriptRefused("no project is named; add --project, or set one by gcloud config set project")
    check_project(home, line=command.line)
    scene = GcloudScene(
        args=args,
        command=leaf,
        track=track,
        version=config.gcloud_version,
        links=ResourceLinks(track),
        files=command.files,
        home=home,
        project=home,
        place="",
    )
    if leaf == BULK:
        return [_bulk_request(scene)]
    return _machine_requests(scene, None if args.given("zone") else configured(ZONE))


def _read_args(line: CommandLine, taker: Taker, command: SimpleCommand) -> Args:
    """Read the flags: global ones may stand between the words of the command's name, too."""
    before = parse(expand(line.before, command.files), global_flags(), line=command.line, names=False)
    behind = expand(line.behind, command.files)
    args = parse(
        behind,
        flags_of(taker),
        line=command.line,
        names=taker.command != BULK,
        missing=partial(missing_flag, taker=taker),
    )
    args.inherit(before)
    return args


def _check_globals(args: Args, files: Mapping[str, bytes]) -> None:
    if args["impersonate-service-account"]:
        raise args.refusal("impersonate-service-account", "a restart uses its own account; leave this out")
    if args["universe-domain"] not in {None, "googleapis.com"}:
        raise args.refusal(
            "universe-domain", f"{args['universe-domain']!r} is not Google's public cloud; leave this out"
        )
    if args.given("http-timeout") and not args["http-timeout"].strip().lstrip("+-").isdigit():
        raise args.refusal(
            "http-timeout", f"{args['http-timeout']!r} is not a whole number; write seconds, such as 60"
        )
    for flag in _TOKEN_FILES:
        if args[flag]:
            _check_file(args, flag, files)
    _check_format(args)


def _check_format(args: Args) -> None:
    wanted = args["format"]
    if wanted and (not _FORMAT.match(wanted) or wanted.count("(") != wanted.count(")")):
        raise args.refusal(
            "format",
            f"{wanted!r} is not a gcloud format; write json, yaml, or another of `gcloud topic formats`",
        )


def _check_file(args: Args, flag: str, files: Mapping[str, bytes]) -> None:
    try:
        content(files, args[flag])
    except Misfit as error:
        raise args.refusal(flag, str(error)) from None


def _bulk_request(scene: GcloudScene) -> Request:
    args = scene.args
    flag = "region" if args.given("region") else "zone"
    place = args[flag]
    if not place:
        raise args.refusal(flag, f"is empty; name a {flag}")
    bulk.check(args, scene.version)
    scene = _at(scene, scene.home, place, regional=flag == "region")
    instance.check(scene)
    path = f"{flag}s/{quote(place, safe='')}/instances/bulkInsert"
    return _request(scene, path, bulk.bulk_insert(scene))


def _at(scene: GcloudScene, project: str, place: str, *, regional: bool = False) -> GcloudScene:
    return GcloudScene(
        args=scene.args,
        command=scene.command,
        track=scene.track,
        version=scene.version,
        links=scene.links,
        files=scene.files,
        home=scene.home,
        project=project,
        place=place,
        regional=regional,
    )


def _machine_requests(scene: GcloudScene, configured_zone: str | None) -> list[Request]:
    """Translate a command that names its machines, each by its bare name or by a URL of its own."""
    refs = _machines(scene, configured_zone)
    args = scene.args
    if len(refs) > 1 and args.given("address"):
        raise args.refusal("address", "is for one machine only; leave it out, or create one machine")
    first = _at(scene, refs[0].parts["project"], refs[0].parts["zone"])
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
        here = _at(scene, ref.parts["project"], ref.parts["zone"])
        path = f"zones/{quote(here.place, safe='')}/instances"
        requests.append(_request(here, path, body(here, ref.parts["name"], shared), query))
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


def _request(
    scene: GcloudScene, path: str, body: dict[str, Any], query: dict[str, str] | None = None
) -> Request:
    project = quote(scene.project, safe="")
    return Request(
        method="POST",
        path=f"/compute/{scene.track}/projects/{project}/{path}",
        query={"alt": "json"} | (query or {}),
        body=body,
    )
