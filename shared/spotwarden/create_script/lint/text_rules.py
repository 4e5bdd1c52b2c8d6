"""Rules that look at the text alone, so they speak up for scripts that are refused, too."""

import re
from collections.abc import Iterator

from spotwarden.create_script.lint.facts import Facts, LintFinding

_TYPOGRAPHIC = re.compile("[\u2018\u2019\u201c\u201d\u2013\u2014\u00a0]")
_USED = re.compile(r"(?<!\\)\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})", re.ASCII)
_SET = re.compile(
    r"(?:^|[\s;&|(`])(?:export\s+|local\s+|readonly\s+|declare\s+(?:-\w+\s+)*|typeset\s+)?([A-Za-z_]\w*)\+?="
    r"|\bfor\s+([A-Za-z_]\w*)|\$\{([A-Za-z_]\w*):?=|\bprintf\s+-v\s+([A-Za-z_]\w*)|\bgetopts\s+\S+\s+(\w+)",
    re.ASCII | re.MULTILINE,
)
_TAKES_NAMES = re.compile(r"\b(?:read|mapfile|readarray|local|declare|export|let|source|\.)\b([^\n;|&<]*)")
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_SINGLE_QUOTED = re.compile(r"'[^']*'")
_COMMENT = re.compile(r"(?m)(^|\s)#.*$")
_QUOTED_DOCUMENT = re.compile(r"<<-?[ \t]*(?:'(\w+)'|\"(\w+)\"|\\(\w+))")
_READS_A_FILE = re.compile(r"(?m)^[ \t]*(?:source|\.)\s")
_OWN_NAMES = """
BASH_SOURCE HOME HOSTNAME IFS LINENO OPTARG OPTIND PATH PWD RANDOM REPLY SECONDS USER UID BASH_REMATCH
FUNCNAME EPOCHSECONDS PIPESTATUS
"""
_OWN_VARIABLES = frozenset(_OWN_NAMES.split())


def windows_line_ends(facts: Facts) -> Iterator[LintFinding]:
    """Lines that end as on Windows: the carriage return becomes part of words, and nothing is continued."""
    lines = facts.source.split("\n")
    marked = [number for number, line in enumerate(lines, start=1) if line.endswith("\r")]
    if marked:
        text = f"{len(marked)} lines end with a carriage return, which bash reads as text; run dos2unix on it"
        yield LintFinding(marked[0], "windows-line-ends", text)


def byte_order_mark(facts: Facts) -> Iterator[LintFinding]:
    """A byte order mark in front of `#!`."""
    if facts.source.startswith("\ufeff"):
        text = (
            "the file begins with a byte order mark, so bash does not read its first line as a "
            "comment; remove it"
        )
        yield LintFinding(1, "byte-order-mark", text)


def typographic_signs(facts: Facts) -> Iterator[LintFinding]:
    """Quotes, dashes and blanks as word processors write them."""
    for number, line in enumerate(facts.source.split("\n"), start=1):
        found = _TYPOGRAPHIC.search(line.split(" #", 1)[0])
        if found and not line.lstrip().startswith("#") and "gcloud" in facts.source:
            text = f"{found.group()!r} comes from a word processor; write plain quotes, dashes and spaces"
            yield LintFinding(number, "typographic-signs", text)
            return


def unset_variables(facts: Facts) -> Iterator[LintFinding]:
    """Variables that nothing in the script sets: empty when it is run again."""
    text = "\n".join(_without_documents(facts.source))
    text = _COMMENT.sub(_blank, _SINGLE_QUOTED.sub(_blank, text))
    known = {name for found in _SET.findall(text) for name in found if name} | _OWN_VARIABLES
    for names in _TAKES_NAMES.findall(text):
        known.update(_NAME.findall(names))
    if _READS_A_FILE.search(text):
        return  # the file that is read may set any
    for found in _USED.finditer(text):
        name = found.group(1) or found.group(2)
        if name not in known:
            known.add(name)
            line = text.count("\n", 0, found.start()) + 1
            told = f"${name} is never set, and a re-run has no environment: set it, or write ${{{name}:-…}}"
            yield LintFinding(line, "unset-variable", told)


def _without_documents(source: str) -> Iterator[str]:
    """The lines, with nothing in those of a here-document in which nothing is replaced."""
    end = ""
    for line in source.split("\n"):
        if end:
            end = "" if line.strip() == end else end
            yield ""
        elif found := _QUOTED_DOCUMENT.search(line):
            end = found[1] or found[2] or found[3]
            yield line[: found.start()]
        else:
            yield line


def _blank(found: re.Match[str]) -> str:
    """Take a text out, but leave its line ends, so that lines keep their numbers."""
    return "\n" * found.group().count("\n")
