"""What bash or the system sets by itself: such a variable is not empty, it is unknown."""

from spotwarden.create_script.bash.evaluator.values import ScriptName
from spotwarden.create_script.request.command import Unknown

ENVIRONMENT = "the environment of whoever runs the script"
_CHANCE = "a random number"
_CLOCK = "the clock"
_MACHINE = "the machine that runs the script"
_PROCESS = "the process that runs the script"

_SET_OUTSIDE = {
    "BASH": _MACHINE,
    "BASHPID": _PROCESS,
    "BASH_ARGV0": _PROCESS,
    "BASH_COMMAND": _PROCESS,
    "BASH_ENV": ENVIRONMENT,
    "BASH_LINENO": _PROCESS,
    "BASH_SOURCE": _PROCESS,
    "BASH_SUBSHELL": _PROCESS,
    "BASH_VERSINFO": _MACHINE,
    "BASH_VERSION": _MACHINE,
    "COLUMNS": ENVIRONMENT,
    "DIRSTACK": _MACHINE,
    "EPOCHREALTIME": _CLOCK,
    "EPOCHSECONDS": _CLOCK,
    "EUID": ENVIRONMENT,
    "FUNCNAME": _PROCESS,
    "GROUPS": ENVIRONMENT,
    "HOME": ENVIRONMENT,
    "HOSTNAME": _MACHINE,
    "HOSTTYPE": _MACHINE,
    "LANG": ENVIRONMENT,
    "LINENO": _PROCESS,
    "LINES": ENVIRONMENT,
    "LOGNAME": ENVIRONMENT,
    "MACHTYPE": _MACHINE,
    "MAIL": ENVIRONMENT,
    "OLDPWD": _MACHINE,
    "OSTYPE": _MACHINE,
    "PATH": ENVIRONMENT,
    "PIPESTATUS": _PROCESS,
    "PPID": _PROCESS,
    "PWD": _MACHINE,
    "RANDOM": _CHANCE,
    "SECONDS": _CLOCK,
    "SHELL": ENVIRONMENT,
    "SHELLOPTS": _PROCESS,
    "SHLVL": ENVIRONMENT,
    "SRANDOM": _CHANCE,
    "SSH_AUTH_SOCK": ENVIRONMENT,
    "TERM": ENVIRONMENT,
    "TMPDIR": ENVIRONMENT,
    "UID": ENVIRONMENT,
    "USER": ENVIRONMENT,
    "_": _PROCESS,
}
_NAME = "the name that the script was called by"
_SPECIAL = {"$": _PROCESS, "!": _PROCESS, "-": _PROCESS, "0": _NAME}

# Variables that bash gives a meaning of its own once they are set. `RANDOM=7` does not make `$RANDOM` a 7.
_KEPT_BY_BASH_NAMES = """
BASHPID BASH_ARGV0 BASH_COMMAND BASH_LINENO BASH_SOURCE BASH_SUBSHELL BASH_VERSINFO DIRSTACK
EPOCHREALTIME EPOCHSECONDS EUID FUNCNAME GROUPS LINENO PIPESTATUS PPID RANDOM SECONDS SHELLOPTS
SRANDOM UID _
"""
_KEPT_BY_BASH = frozenset(_KEPT_BY_BASH_NAMES.split())


def outside(name: str, line: int) -> Unknown | None:
    """Return why the value of an unset variable is not known; None where it is certainly empty."""
    if name in ("0", "BASH_SOURCE"):
        return ScriptName(reason=f"${name} is {_NAME}", line=line)
    source = _SET_OUTSIDE.get(name) or _SPECIAL.get(name)
    return None if source is None else Unknown(reason=f"${name} depends on {source}", line=line)


def kept_by_bash(name: str) -> bool:
    """Whether bash goes on computing this variable whatever the script assigns to it."""
    return name in _KEPT_BY_BASH
