"""A gcloud command line → its flags, its project, and the scene in which its requests are built."""

import re
from collections.abc import Mapping
from functools import partial

import msgspec

from spotwarden.create_script.gcloud import groups
from spotwarden.create_script.gcloud.argv import Args, parse
from spotwarden.create_script.gcloud.commands import PREVIEW, CommandLine
from spotwarden.create_script.gcloud.config import PROJECT, Config, check_project
from spotwarden.create_script.gcloud.files import content
from spotwarden.create_script.gcloud.flagfile import expand
from spotwarden.create_script.gcloud.flagset import flags_of, global_flags
from spotwarden.create_script.gcloud.letters import BULK
from spotwarden.create_script.gcloud.links import ResourceLinks
from spotwarden.create_script.gcloud.missing import missing_flag
from spotwarden.create_script.gcloud.scene import GcloudScene
from spotwarden.create_script.gcloud.surface import Taker
from spotwarden.create_script.gcloud.values import Misfit
from spotwarden.create_script.refusal import ScriptRefused
from spotwarden.create_script.request.command import SimpleCommand

# The words of `gcloud topic formats`; gcloud itself finds a wrong one only after the create.
_FORMATS = "config|csv|default|diff|disable|flattened|get|json|list|multi|none|object|table|text|value|yaml"
_FORMAT = re.compile(rf"\s*(?:{_FORMATS})(?![\w-])")
_TOKEN_FILES = ("access-token-file", "authorization-token-file")


class OpenedCommand(msgspec.Struct, frozen=True, kw_only=True):
    """A command that is read: its scene, without a place as yet, and the configuration that it sees."""

    scene: GcloudScene
    command: SimpleCommand
    config: Config

    def configured(self, name: str) -> str | None:
        """Give a property of gcloud's configuration as this command sees it."""
        configuration = self.scene.args["configuration"]
        return self.config.get(name, self.command.environment, configuration, line=self.command.line)


def open_command(name: str, line: CommandLine, command: SimpleCommand, config: Config) -> OpenedCommand:
    """Read the flags of a command, and find out its project; `line` is the reading of `command`.

    Raises `ScriptRefused` where gcloud would refuse.
    """
    # The track preview has the flags of v1, and sends to v1.
    track = "v1" if line.track == PREVIEW else line.track
    args = _read_args(line, Taker(command=name, track=track, version=config.gcloud_version), command)
    config.check(command.environment, line=command.line)
    groups.check(args, name)
    _check_globals(args, command.files)
    configuration = args["configuration"]
    home = (
        args["project"]
        if args.given("project")
        else config.get(PROJECT, command.environment, configuration, line=command.line)
    )
    if home is None:
        raise ScriptRefused("no project is named; add --project, or set one by gcloud config set project")
    check_project(home, line=command.line)
    scene = GcloudScene(
        args=args,
        command=name,
        track=track,
        version=config.gcloud_version,
        links=ResourceLinks(track),
        files=command.files,
        home=home,
        project=home,
        place="",
    )
    return OpenedCommand(scene=scene, command=command, config=config)


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
