"""`gcloud storage …` inside a virtual machine, through the Storage API of the local cloud."""

import re
import sys
from collections.abc import Callable

from localcloud.standins import copying, gs, looking, syncing
from localcloud.standins.bucket import NOT_FOUND, Storage
from localcloud.standins.cli.command import MANY, SWITCH, VALUE, Command, Path, Run
from localcloud.standins.cli.compute import show
from localcloud.standins.copying import BadTarget, How
from localcloud.standins.gs import Address, BadAddress
from localcloud.standins.sources import Finder
from localcloud.standins.syncing import Side, SyncRules
from localcloud.standins.transport import CloudError

NO_CLOBBER = ("--no-clobber", "-n")
MATCH = "--if-generation-match"
CUSTOM = "--custom-metadata"
RECURSIVE = ("--recursive", "-r", "-R")


def _told(work: Callable[[Run, Storage], None]) -> Callable[[Run], None]:
    """The command, with what can go wrong worded as gcloud does."""

    def run_it(run: Run) -> None:
        try:
            work(run, Storage(run.door()))
        except (BadTarget, BadAddress) as error:
            run.fail(str(error))
        except CloudError as error:
            run.fail(f"HTTPError {error.status}: {error.message}")
        except OSError as error:
            run.fail(f"{error.strerror or error}: {error.filename or ''}".rstrip(": "))

    return run_it


def _has(run: Run, names: tuple[str, ...]) -> bool:
    return any(name in run.flags for name in names)


def _say(message: str) -> None:
    sys.stderr.write(f"{message}\n")


def _omit(name: str) -> None:
    _say(f"WARNING: Omitting {name} because it is a container, and recursion is not enabled.")


def _check_missing(run: Run, missing: list[str]) -> None:
    if missing:
        run.fail("The following URLs matched no objects or files:\n" + "\n".join(missing))


def _cp(run: Run, storage: Storage) -> None:
    _copy(run, storage, recursive=_has(run, RECURSIVE))


def _copy(run: Run, storage: Storage, *, recursive: bool) -> list[copying.Copy]:
    *arguments, target = run.arguments
    if "--read-paths-from-stdin" in run.flags or "-I" in run.flags:
        arguments += sys.stdin.read().splitlines()
    found = Finder(storage, recursive=recursive, omit=_omit).find(arguments)
    copies = copying.plan(storage, found.sources, target) if found.sources else []
    how = How(
        keep=_has(run, NO_CLOBBER),
        kind=run.flags.get("--content-type", ""),
        say=_say,
        generation=run.flags.get(MATCH, ""),
        custom=_pairs(run),
    )
    copying.execute(storage, copies, how)
    _check_missing(run, found.missing)
    return copies


def _pairs(run: Run) -> dict[str, str]:
    """The custom metadata of the command line: `key=value,key=value`, or after `^MARK^` with MARK between."""
    given, mark = run.flags.get(CUSTOM, ""), ","
    if (escaped := re.match(r"\^([^^]+)\^", given)) is not None:
        given, mark = given[escaped.end() :], escaped[1]
    words = [word.partition("=") for word in given.split(mark) if word]
    for key, sign, _ in words:
        if not sign:
            run.fail(f"argument {CUSTOM}: Bad syntax for dict arg: [{key}].", 2)
    return {key: value for key, _, value in words}


def _mv(run: Run, storage: Storage) -> None:
    for copy in _copy(run, storage, recursive=True):
        _say(f"Removing {copying.show(copy.place)}...")
        syncing.remove(storage, copy.place)


def _ls(run: Run, storage: Storage) -> None:
    view = looking.View(
        long=_has(run, ("-l", "--long")),
        readable="--readable-sizes" in run.flags,
        recursive=_has(run, RECURSIVE),
        names_only="--buckets" in run.flags or "-b" in run.flags,
    )
    looker = looking.Looker(storage, view)
    try:
        looker.list(run.arguments)
    except CloudError as error:
        if error.status == NOT_FOUND:
            run.fail(f"{run.arguments[0]} not found: 404.")
        raise
    if not run.arguments:
        looker.list_buckets(run.project)
    if looker.missing:
        run.fail("One or more URLs matched no objects.")


def _cat(run: Run, storage: Storage) -> None:
    found = Finder(storage, recursive=False, omit=_omit).find(run.arguments)
    span = run.flags.get("--range") or run.flags.get("-r", "")
    for source in found.sources:
        for item in source.items:
            if not isinstance(item.place, Address):
                run.fail("cat only works for valid cloud URLs.")
            storage.read(item.place, sys.stdout.buffer, span=span)
    sys.stdout.buffer.flush()
    _check_missing(run, found.missing)


def _rm(run: Run, storage: Storage) -> None:
    for argument in run.arguments:
        if not gs.is_remote(argument):
            run.fail(f'rm only accepts cloud URLs. Example: "gs://bucket". Received: "{argument}"')
    _say("Removing objects:")
    found = Finder(storage, recursive=_has(run, RECURSIVE), omit=_omit).find(run.arguments)
    for source in found.sources:
        for item in source.items:
            _say(f"Removing {item.place}...")
            syncing.remove(storage, item.place)
    buckets = [gs.parse(argument) for argument in run.arguments if not gs.parse(argument).name]
    for address in buckets if _has(run, RECURSIVE) else []:
        _say(f"Removing {address}...")
        storage.delete_bucket(address.bucket)
    emptied = {str(address).rstrip("/") for address in buckets if _has(run, RECURSIVE)}
    _check_missing(run, [name for name in found.missing if name.rstrip("/") not in emptied])


def _rsync(run: Run, storage: Storage) -> None:
    source, target = (Side(storage, argument) for argument in run.arguments)
    if not source.exists():
        run.fail(f"Did not find existing container at: {source.text}")
    exclude = run.flags.get("--exclude") or run.flags.get("-x")
    rules = SyncRules(
        recursive=_has(run, RECURSIVE),
        delete="--delete-unmatched-destination-objects" in run.flags,
        exclude=re.compile(exclude) if exclude else None,
        dry_run="--dry-run" in run.flags,
    )
    syncing.sync(storage, source, target, rules, _say)


def _du(run: Run, storage: Storage) -> None:
    size = looking.human if _has(run, ("--readable-sizes", "-r")) else str
    summary = _has(run, ("--summarize", "-s"))
    total, missing = 0, []
    for argument in run.arguments:
        found = looking.usage(storage, gs.parse(argument), summary=summary, size=size)
        total += found or 0
        missing += [argument] if found is None else []
    if _has(run, ("--total", "-c")):
        sys.stdout.write(f"{size(total):<11}  total\n")
    _check_missing(run, missing)


def _describe_object(run: Run, storage: Storage) -> None:
    if "--raw" not in run.flags:
        run.fail("the local cloud's stand-in describes objects with --raw only")
    if (stored := storage.stat(gs.parse(run.arguments[0]))) is None:
        run.fail(f"{run.arguments[0]} not found: 404.")
    show(run, [dict(stored.resource)], "yaml", single=True)


def _make_bucket(run: Run, storage: Storage) -> None:
    settings = {"location": run.flags["--location"]} if run.flags.get("--location") else {}
    for argument in run.arguments:
        address = gs.parse(argument)
        _say(f"Creating {address}...")
        storage.create_bucket(address.bucket, run.project, settings)


DEEP = dict.fromkeys(RECURSIVE, SWITCH)
COPY = {
    **DEEP,
    **dict.fromkeys(NO_CLOBBER, SWITCH),
    "--content-type": VALUE,
    MATCH: VALUE,
    CUSTOM: VALUE,
    "--read-paths-from-stdin": SWITCH,
    "-I": SWITCH,
}
MOVE = {**dict.fromkeys(NO_CLOBBER, SWITCH), "--content-type": VALUE}
LIST = {**DEEP, **dict.fromkeys(("-l", "--long", "--readable-sizes", "--buckets", "-b"), SWITCH)}
SYNC = {
    **DEEP,
    **dict.fromkeys(("--delete-unmatched-destination-objects", "--dry-run"), SWITCH),
    "--exclude": VALUE,
    "-x": VALUE,
}
USAGE = dict.fromkeys(("--summarize", "-s", "--readable-sizes", "-r", "--total", "-c"), SWITCH)

COMMANDS: dict[Path, Command] = {
    ("storage", "cp"): Command(_told(_cp), COPY, "[SOURCE ...] DESTINATION", 1, MANY),
    ("storage", "mv"): Command(_told(_mv), MOVE, "[SOURCE ...] DESTINATION", 2, MANY),
    ("storage", "ls"): Command(_told(_ls), LIST, "PATH", 0, MANY),
    ("storage", "cat"): Command(_told(_cat), {"--range": VALUE, "-r": VALUE}, "URLS [URLS ...]", 1, MANY),
    ("storage", "rm"): Command(_told(_rm), DEEP, "URLS [URLS ...]", 1, MANY),
    ("storage", "rsync"): Command(_told(_rsync), SYNC, "SOURCE DESTINATION", 2, 2),
    ("storage", "du"): Command(_told(_du), USAGE, "URLS [URLS ...]", 1, MANY),
    ("storage", "objects", "describe"): Command(_told(_describe_object), {"--raw": SWITCH}, "URL", 1, 1),
    ("storage", "buckets", "create"): Command(
        _told(_make_bucket), {"--location": VALUE}, "URLS [URLS ...]", 1, MANY
    ),
}
