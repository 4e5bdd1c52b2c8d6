"""`gsutil`: the commands that startup scripts use, against the local cloud's bucket."""

import os
import re
import sys
from collections.abc import Callable
from typing import NamedTuple, NoReturn

from localcloud.standins import copying, gs, looking, syncing
from localcloud.standins.bucket import NOT_FOUND, Storage
from localcloud.standins.copying import BadTarget, How
from localcloud.standins.gs import BadAddress
from localcloud.standins.options import BadOption, Options, split
from localcloud.standins.sources import Finder
from localcloud.standins.syncing import Rules, Side
from localcloud.standins.transport import CloudError, cloud, give_up

CONTENT_TYPE = "content-type:"


class Call(NamedTuple):
    """One run of a command."""

    storage: Storage
    options: Options
    kind: str
    quiet: bool

    def say(self, message: str) -> None:
        """Tell what is being done, unless it was to be quiet."""
        if not self.quiet:
            sys.stderr.write(f"{message}\n")


class Command(NamedTuple):
    """A command: its options (letters), how many arguments it takes, and what it does."""

    switches: str
    valued: str
    least: int
    most: int
    run: Callable[[Call], None]


MANY = 1_000_000


def main(_command: str, arguments: list[str]) -> int:
    """Run one gsutil command; 1 for whatever goes wrong, said on standard error."""
    try:
        _run(arguments)
    except BadOption as error:
        _fail(f"Incorrect option(s) specified: {error}.")
    except (BadTarget, BadAddress) as error:
        _fail(str(error))
    except CloudError as error:
        _fail_as_cloud(error)
    except OSError as error:
        give_up(f"OSError: {error}.")
    return 0


def _run(arguments: list[str]) -> None:
    # -m (in parallel) makes no difference here, nor does -o, which tunes transfers.
    top = split(arguments, switches="mqD", valued="oh", ends=True)
    if not top.arguments:
        _fail(f"no command given; the local cloud's stand-in knows {', '.join(COMMANDS)}")
    name, *rest = top.arguments
    command = COMMANDS.get(name)
    if command is None:
        _fail(f"Invalid command {name!r}: the local cloud's stand-in knows {', '.join(COMMANDS)}")
    options = split(rest, switches=command.switches, valued=command.valued)
    if not command.least <= len(options.arguments) <= command.most:
        _fail(f"Wrong number of arguments for {name!r} command.")
    kind = _content_type(top.given.get("h", ""))
    command.run(Call(Storage(cloud()), options, kind=kind, quiet=top.has("q")))


def _content_type(header: str) -> str:
    if header and not header.lower().startswith(CONTENT_TYPE):
        _fail(f"the local cloud's stand-in takes no header but Content-Type, not {header!r}")
    return header[len(CONTENT_TYPE) :].strip()


def _cp(call: Call) -> None:
    *arguments, target = call.options.arguments
    if call.options.has("I"):
        arguments += sys.stdin.read().splitlines()
    _copy(call, arguments, target)


def _copy(call: Call, arguments: list[str], target: str) -> list[copying.Copy]:
    options = call.options
    finder = Finder(call.storage, recursive=options.has("r", "R"), omit=lambda name: _omitted(call, name))
    found = finder.find(arguments)
    if found.missing:
        _fail(f"No URLs matched: {found.missing[0]}")
    copies = copying.plan(call.storage, found.sources, target)
    copying.execute(call.storage, copies, How(keep=options.has("n"), kind=call.kind, say=call.say))
    return copies


def _omitted(call: Call, name: str) -> None:
    call.say(f"Omitting {name}. (Did you mean to do cp -r?)")


def _mv(call: Call) -> None:
    *arguments, target = call.options.arguments
    moving = call._replace(options=Options({**call.options.given, "r": ""}, call.options.arguments))
    for copy in _copy(moving, arguments, target):
        call.say(f"Removing {copying.show(copy.place)}...")
        syncing.remove(call.storage, copy.place)


def _ls(call: Call) -> None:
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
        _fail("One or more URLs matched no objects.")


def _cat(call: Call) -> None:
    found = Finder(call.storage, recursive=False, omit=lambda _name: None).find(call.options.arguments)
    for source in found.sources:
        for item in source.items:
            if call.options.has("h"):
                sys.stdout.write(f"==> {item.place} <==\n")
                sys.stdout.flush()
            _print_content(call, item.place)
    if found.missing:
        _fail(f"No URLs matched: {found.missing[0]}")


def _print_content(call: Call, place: gs.Address | str) -> None:
    if not isinstance(place, gs.Address):
        _fail("cat command only works with cloud URLs")
    call.storage.read(place, sys.stdout.buffer, span=call.options.given.get("r", ""))
    sys.stdout.buffer.flush()


def _stat(call: Call) -> None:
    for argument in call.options.arguments:
        stored = call.storage.stat(gs.parse(argument))
        if stored is None:
            _fail_plainly(call, f"No URLs matched: {argument}")
        if not call.quiet:
            looking.describe(stored)


def _fail_plainly(call: Call, message: str) -> NoReturn:
    call.say(message)
    sys.exit(1)


def _rm(call: Call) -> None:
    options = call.options
    arguments = options.arguments + (sys.stdin.read().splitlines() if options.has("I") else [])
    if not arguments:
        _fail("The rm command needs at least one URL.")
    if local := [argument for argument in arguments if not gs.is_remote(argument)]:
        _fail(f'"rm" command does not support "file://" URLs: {local[0]}')
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
        _fail(f"No URLs matched: {missing[0]}")
    if missing:
        sys.exit(1)


def _rsync(call: Call) -> None:
    options = call.options
    source, target = (Side(call.storage, argument) for argument in options.arguments)
    for side in (source, target):
        if not side.exists():
            _fail(f"arg ({side.text}) does not name a directory, bucket, or bucket subdir.")
    rules = Rules(
        recursive=options.has("r", "R"),
        delete=options.has("d"),
        exclude=re.compile(options.given["x"]) if options.has("x") else None,
        dry_run=options.has("n"),
    )
    syncing.sync(call.storage, source, target, rules, call.say)


def _du(call: Call) -> None:
    options = call.options
    size = looking.human if options.has("h") else str
    total = 0
    for argument in options.arguments:
        found = looking.usage(call.storage, gs.parse(argument), summary=options.has("s"), size=size)
        if found is None:
            _fail(f"No URLs matched: {argument}")
        total += found
    if options.has("c"):
        sys.stdout.write(f"{size(total):<11}  total\n")


SETTINGS = {"l": "location", "c": "storageClass"}


def _mb(call: Call) -> None:
    options = call.options
    settings = {field: options.given[letter] for letter, field in SETTINGS.items() if letter in options.given}
    for address in map(gs.parse, options.arguments):
        call.say(f"Creating gs://{address.bucket}/...")
        call.storage.create_bucket(address.bucket, _project(options), settings)


def _version(_call: Call) -> None:
    sys.stdout.write("gsutil version: stand-in of the Spotwarden local cloud\n")


def _project(options: Options) -> str:
    return options.given.get("p") or os.environ.get("CLOUDSDK_CORE_PROJECT", "")


COMMANDS = {
    "cp": Command("rRnI", "", 1, MANY, _cp),
    "mv": Command("n", "", 2, MANY, _mv),
    "rsync": Command("rRdnc", "x", 2, 2, _rsync),  # -c compares checksums, as we always do
    "ls": Command("lhrRdb", "p", 0, MANY, _ls),
    "cat": Command("h", "r", 1, MANY, _cat),
    "stat": Command("", "", 1, MANY, _stat),
    "rm": Command("rRfI", "", 0, MANY, _rm),
    "du": Command("shc", "", 1, MANY, _du),
    "mb": Command("", "lcp", 1, MANY, _mb),
    "version": Command("l", "", 0, 0, _version),
}


def _fail(message: str) -> NoReturn:
    give_up(f"CommandException: {message}")


def _fail_as_cloud(error: CloudError) -> NoReturn:
    kinds = {401: "AccessDeniedException", 403: "AccessDeniedException", NOT_FOUND: "NotFoundException"}
    kind = kinds.get(error.status, "ServiceException")
    if error.status == NOT_FOUND and "bucket" in error.message:
        kind = "BucketNotFoundException"
    give_up(f"{kind}: {error.status} {error.message}")
