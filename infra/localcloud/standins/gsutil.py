"""`gsutil`: the commands that startup scripts use, against the local cloud's bucket."""

from typing import NoReturn

from localcloud.standins.bucket import NOT_FOUND, Storage
from localcloud.standins.copying import BadTarget
from localcloud.standins.gs import BadAddress
from localcloud.standins.gsutil_commands import COMMANDS, GsutilCall, fail
from localcloud.standins.options import BadOption, split
from localcloud.standins.transport import CloudError, cloud, give_up

KIND, MATCH, CUSTOM = "content-type", "x-goog-if-generation-match", "x-goog-meta-"


def main(_command: str, arguments: list[str]) -> int:
    """Run one gsutil command; 1 for whatever goes wrong, said on standard error."""
    try:
        _run(arguments)
    except BadOption as error:
        fail(f"Incorrect option(s) specified: {error}.")
    except (BadTarget, BadAddress) as error:
        fail(str(error))
    except CloudError as error:
        _fail_as_cloud(error)
    except OSError as error:
        give_up(f"OSError: {error}.")
    return 0


def _run(arguments: list[str]) -> None:
    # -m (in parallel) makes no difference here, nor does -o, which tunes transfers.
    top = split(arguments, switches="mqD", valued="oh", ends=True)
    if not top.arguments:
        fail(f"no command given; the local cloud's stand-in knows {', '.join(COMMANDS)}")
    name, *rest = top.arguments
    command = COMMANDS.get(name)
    if command is None:
        fail(f"Invalid command {name!r}: the local cloud's stand-in knows {', '.join(COMMANDS)}")
    options = split(rest, switches=command.switches, valued=command.valued)
    if not command.least <= len(options.arguments) <= command.most:
        fail(f"Wrong number of arguments for {name!r} command.")
    given = dict(_header(line) for line in top.given.get("h", "").splitlines())
    command.run(
        GsutilCall(
            Storage(cloud()),
            options,
            kind=given.get(KIND, ""),
            generation=given.get(MATCH, ""),
            custom={
                name.removeprefix(CUSTOM): value for name, value in given.items() if name.startswith(CUSTOM)
            },
            quiet=top.has("q"),
        )
    )


def _header(line: str) -> tuple[str, str]:
    name, _, value = line.partition(":")
    name = name.lower()
    if name not in (KIND, MATCH) and not name.startswith(CUSTOM):
        fail(f"the local cloud's stand-in takes no header but {KIND}, {MATCH} and {CUSTOM}…, not {name!r}")
    return name, value.strip()


def _fail_as_cloud(error: CloudError) -> NoReturn:
    kinds = {
        401: "AccessDeniedException",
        403: "AccessDeniedException",
        NOT_FOUND: "NotFoundException",
        412: "PreconditionException",
    }
    kind = kinds.get(error.status, "ServiceException")
    if error.status == NOT_FOUND and "bucket" in error.message:
        kind = "BucketNotFoundException"
    give_up(f"{kind}: {error.status} {error.message}")
