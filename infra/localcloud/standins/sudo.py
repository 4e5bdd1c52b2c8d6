"""`sudo`: there is one user, who may do what he may; the command is run as it is."""

import os
import re
import shutil
import sys

SWITCHES = frozenset(
    {"-E", "--preserve-env", "-n", "--non-interactive", "-H", "--set-home", "-S", "--stdin", "-b"}
)
WITH_VALUE = frozenset({"-u", "--user", "-g", "--group", "-p", "--prompt", "-C", "-D", "--chdir"})
SHELLS = frozenset({"-i", "--login", "-s", "--shell"})
ROOT = ("root", "0", "#0")


def main(_command: str, arguments: list[str]) -> int:
    """Become the command; another user than root is not possible, and said."""
    words, shell = list(arguments), False
    while words and (words[0].startswith("-") or re.match(r"\w+=", words[0])):
        word = words.pop(0)
        if word == "--":
            break
        if word in SHELLS:
            shell = True
        elif "=" in word and not word.startswith("-"):
            name, _, value = word.partition("=")
            os.environ[name] = value
        else:
            _take_option(word, words)
    if shell:
        words = ["bash", "-c", " ".join(words)] if words else []
    return _become(words)


def _take_option(word: str, words: list[str]) -> None:
    name, equals, value = word.partition("=")
    if name in SWITCHES and name != "-b":
        return
    if name not in WITH_VALUE:
        _refuse(f"the option {word}")
    if not equals:
        value = words.pop(0) if words else _refuse(f"{word} without a value")
    if name in ("-u", "--user") and value not in ROOT:
        sys.stderr.write(
            f"sudo: the local cloud has one user only: this runs as that one and not as {value}\n"
        )
    if name in ("-D", "--chdir"):
        os.chdir(value)


def _become(words: list[str]) -> int:
    if not words:
        _refuse("a shell or nothing to run: name a command")
    if program := shutil.which(words[0]):
        os.execv(program, words)  # noqa: S606 - what sudo is for
    sys.stderr.write(f"sudo: {words[0]}: command not found\n")
    return 1


def _refuse(what: str) -> str:
    sys.stderr.write(f"sudo: the local cloud's stand-in does not take {what}\n")
    sys.exit(1)
