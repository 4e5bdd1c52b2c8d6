"""What the commands of the `gsutil` stand-in do."""

import os
import re
import sys
from collections.abc import Callable, Mapping
from typing import NamedTuple, NoReturn

from localcloud.standins import copying, gs, looking, syncing
from localcloud.standins.bucket import Storage
from localcloud.standins.copying import How
from localcloud.standins.options import CommandOptions
from localcloud.standins.sources import Finder
from localcloud.standins.syncing import Side, SyncRules
from localcloud.standins.transport import give_up


class GsutilCall(NamedTuple):
    """One run of a command."""

    storage: Storage
    options: CommandOptions
    kind: str
    generation: str
    custom: Mapping[str, str]
    quiet: bool

    def say(self, message: str) -> None:
        """Tell what is being done, unless it was to be quiet."""
        if not self.quiet:
            sys.stderr.write(f"{message}\n")


class GsutilCommand(NamedTuple):
    """A command: its options (letters), how many arguments it takes, and what it does."""

    switches: str
    valued: str
    least: int
    most: int
    run: Callable[[GsutilCall], None]


MANY = 1_000_000


def fail(message: str) -> NoReturn:
    """End with an error as gsutil words it."""
    give_up(f"CommandException: {message}")


def _cp(call: GsutilCall) -> None:
    *arguments, target = call.options.arguments
    if call.options.has("I"):
        arguments += sys.stdin.read().splitlines()
    _copy(call, arguments, target)


def _copy(call: GsutilCall, arguments: list[str], target: str) -> list[copying.Copy]:
    options = call.options
    finder = Finder(call.storage, recursive=options.has("r", "R"), omit=lambda name: _omitted(call, name))
    found = finder.find(arguments)
    if found.missing:
        fail(f"No URLs matched: {found.missing[0]}")
    copies = copying.plan(call.storage, found.sources, target)
    how = How(
        keep=options.has("n"),
        kind=call.kind,
        say=call.say,
        generation=call.generation,
        custom=call.custom,
    )
    copying.execute(call.storage, copies, how)
    return copies


def _omitted(call: GsutilCall, name: str) -> None:
    call.say(f"Omitting {name}. (Did you mean to do cp -r?)")


def _mv(call: GsutilCall) -> None:
    *arguments, target = call.options.arguments
    moving = call._replace(options=CommandOptions({**call.options.given, "r": ""}, call.options.arguments))
    for copy in _copy(moving, arguments, target):
        call.say(f"Removing {copying.show(copy.place)}...")
        syncing.remove(call.storage, copy.place)


def _ls(call: GsutilCall) -> None:
    options = call.options
    view = looking.View(
        long=options.has("l"),
        readable=options.has("h"),
        recursive=options.has("r", "R"),
        names_only=options.has("d"),
    )
    looker = looking.Looker(call.storage, view)
    if options.has("b"):
        for address in map(gs.parse, options.arguments):
            call.storage.list_folder(address)
            sys.stdout.write(f"gs://{address.bucket}/\n")
    elif options.arguments:
        looker.list(options.arguments)
    else:
        looker.list_buckets(_project(options))
    if looker.missing:
        fail("One or more URLs matched no objects.")


def _cat(call: GsutilCall) -> None:
    found = Finder(call.storage, recursive=False, omit=lambda _name: None).find(call.options.arguments)
    for source in found.sources:
        for item in source.items:
            if call.options.has("h"):
                sys.stdout.write(f"==> {item.place} <==\n")
                sys.stdout.flush()
            _print_content(call, item.place)
    if found.missing:
        fail(f"No URLs matched: {found.missing[0]}")


def _print_content(call: GsutilCall, place: gs.Address | str) -> None:
    if not isinstance(place, gs.Address):
        fail("cat command only works with cloud URLs")
    call.storage.read(place, sys.stdout.buffer, span=call.options.given.get("r", ""))
    sys.stdout.buffer.flush()


def _stat(call: GsutilCall) -> None:
    for argument in call.options.arguments:
        stored = call.storage.stat(gs.parse(argument))
        if stored is None:
            _fail_plainly(call, f"No URLs matched: {argument}")
        if not call.quiet:
            looking.describe(stored)


def _fail_plainly(call: GsutilCall, message: str) -> NoReturn:
    call.say(message)
    sys.exit(1)


def _rm(call: GsutilCall) -> None:
    options = call.options
    arguments = options.arguments + (sys.stdin.read().splitlines() if options.has("I") else [])
    if not arguments:
        fail("The rm command needs at least one URL.")
    if local := [argument for argument in arguments if not gs.is_remote(argument)]:
        fail(f'"rm" command does not support "file://" URLs: {local[0]}')
    recursive = options.has("r", "R")
    found = Finder(call.storage, recursive=recursive, omit=lambda name: _omitted(call, name)).find(arguments)
    for source in found.sources:
        for item in source.items:
            call.say(f"Removing {item.place}...")
            syncing.remove(call.storage, item.place)
    buckets = [argument for argument in arguments if recursive and not gs.parse(argument).name]
    for bucket in buckets:
        call.say(f"Removing {bucket}...")
        call.storage.delete_bucket(gs.parse(bucket).bucket)
    missing = [argument for argument in found.missing if argument not in buckets]
    if missing and not options.has("f"):
        fail(f"No URLs matched: {missing[0]}")
    if missing:
        sys.exit(1)


def _rsync(call: GsutilCall) -> None:
    options = call.options
    source, target = (Side(call.storage, argument) for argument in options.arguments)
    for side in (source, target):
        if not side.exists():
            fail(f"arg ({side.text}) does not name a directory, bucket, or bucket subdir.")
    rules = SyncRules(
        recursive=options.has("r", "R"),
        delete=options.has("d"),
        exclude=re.compile(options.given["x"]) if options.has("x") else None,
        dry_run=options.has("n"),
    )
    syncing.sync(call.storage, source, target, rules, call.say)


def _du(call: GsutilCall) -> None:
    options = call.options
    size = looking.human if options.has("h") else str
    total = 0
    for argument in options.arguments:
        found = looking.usage(call.storage, gs.parse(argument), summary=options.has("s"), size=size)
        if found is None:
            fail(f"No URLs matched: {argument}")
        total += found
    if options.has("c"):
        sys.stdout.write(f"{size(total):<11}  total\n")


SETTINGS = {"l": "location", "c": "storageClass"}


def _mb(call: GsutilCall) -> None:
    options = call.options
    settings = {field: options.given[letter] for letter, field in SETTINGS.items() if letter in options.given}
    for address in map(gs.parse, options.arguments):
        call.say(f"Creating gs://{address.bucket}/...")
        call.storage.create_bucket(address.bucket, _project(options), settings)


def _version(_call: GsutilCall) -> None:
    sys.stdout.write("gsutil version: stand-in of the Spotwarden local cloud\n")


def _project(options: CommandOptions) -> str:
    return options.given.get("p") or os.environ.get("CLOUDSDK_CORE_PROJECT", "")


COMMANDS = {
    "cp": GsutilCommand("rRnI", "", 1, MANY, _cp),
    "mv": GsutilCommand("n", "", 2, MANY, _mv),
    "rsync": GsutilCommand("rRdnc", "x", 2, 2, _rsync),  # -c compares checksums, as we always do
    "ls": GsutilCommand("lhrRdb", "p", 0, MANY, _ls),
    "cat": GsutilCommand("h", "r", 1, MANY, _cat),
    "stat": GsutilCommand("", "", 1, MANY, _stat),
    "rm": GsutilCommand("rRfI", "", 0, MANY, _rm),
    "du": GsutilCommand("shc", "", 1, MANY, _du),
    "mb": GsutilCommand("", "lcp", 1, MANY, _mb),
    "version": GsutilCommand("l", "", 0, 0, _version),
}
