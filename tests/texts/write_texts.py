"""Writes every text of the product into one file, sorted by kind, so that an editor can read them all.

`python -m tests.texts.write_texts`
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.texts.rendered import answer_pages, helps, mails, words_of_template
from tests.texts.source import ROOT, Said, said_in

SNAPSHOT = Path(__file__).with_name("snapshot.md")
COMMANDS = ("infra/localcloud/commands", "infra/localcloud/story", "infra/localcloud/mailbox")
"""What of the local cloud speaks for itself; its other words are Google's."""
_SAYS = re.compile(r'\b(?:say|refuse|misuse|warn|die|step)\s+"((?:[^"\\]|\\.)*)"')
_TERRAFORM = re.compile(r'(?:content|subject|description|title)\s+=\s+"((?:[^"\\]|\\.)*)"')
HEAD = """# Every text of the product

Written by `python -m tests.texts.write_texts`, not by hand. The rules: [style](../../docs/style.md).
Values stand in braces. Mails and messages are those of `spotwarden notices test`.
"""


def snapshot() -> str:
    """The whole file."""
    return "\n".join((HEAD, *_sections())).rstrip() + "\n"


def _sections() -> Iterator[str]:
    yield from _rendered("Mails and chat messages", mails())
    yield from _rendered("Pages that answer a link", answer_pages())
    yield from _files("Pages: words of templates", _templates())
    yield from _rendered("Help", helps())
    modules = [*_modules()]
    for kind, title in (
        ("errors", "Errors and warnings"),
        ("log lines", "Log lines"),
        ("words", "Other words"),
    ):
        yield from _files(title, ((name, _of(kind, said)) for name, said in modules))
    yield from _files("Scripts: deployment and job kit", _scripts())
    yield from _files(
        "Alerts and variables of Terraform", _found(ROOT.glob("infra/terraform/*.tf"), _TERRAFORM)
    )
    yield from _files("Policy: comments", [("infra/policy.toml", _comments())])


def _rendered(title: str, parts: Iterable[tuple[str, str]]) -> Iterator[str]:
    yield f"\n## {title}\n"
    for name, text in parts:
        lines = (line.rstrip() for line in text.splitlines())
        block = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
        yield f"### {name}\n\n```\n{block}\n```\n"


def _files(title: str, files: Iterable[tuple[str, list[str]]]) -> Iterator[str]:
    yield f"\n## {title}\n"
    for name, texts in files:
        if texts:
            yield "\n".join((f"### {name}\n", *(f"- {text}" for text in texts), ""))


def _modules() -> Iterator[tuple[str, list[Said]]]:
    folders = ("shared/spotwarden", *COMMANDS)
    for path in sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py")):
        yield path.relative_to(ROOT).as_posix(), [*said_in(path)]


def _of(kind: str, said: Iterable[Said]) -> list[str]:
    return list(dict.fromkeys(each.text for each in said if each.kind == kind))


def _templates() -> Iterator[tuple[str, list[str]]]:
    folders = ("shared/spotwarden/notify", "shared/spotwarden/report", "infra/localcloud/mailbox")
    for path in sorted(path for folder in folders for path in (ROOT / folder).rglob("*.html.j2")):
        yield path.relative_to(ROOT).as_posix(), words_of_template(path.read_text(encoding="utf-8"))


def _scripts() -> Iterator[tuple[str, list[str]]]:
    paths = (ROOT / "deploy.sh", ROOT / "infra/bootstrap.sh", *ROOT.glob("infra/deploy/*.sh"))
    return _found((*paths, *ROOT.glob("infra/job/kit/parts/*.sh")), _SAYS)


def _found(paths: Iterable[Path], pattern: re.Pattern[str]) -> Iterator[tuple[str, list[str]]]:
    for path in sorted(paths):
        texts = [" ".join(text.split()) for text in pattern.findall(path.read_text(encoding="utf-8"))]
        yield path.relative_to(ROOT).as_posix(), list(dict.fromkeys(text for text in texts if " " in text))


def _comments() -> list[str]:
    """The comments of the policy, a paragraph each, with the value that each is about."""
    found, paragraph = [], list[str]()
    for line in (ROOT / "infra/policy.toml").read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            paragraph.append(line.lstrip("# "))
        elif paragraph:
            found.append(" ".join((*paragraph, f"→ `{line}`" if line else "")).strip())
            paragraph = []
    return found


if __name__ == "__main__":
    SNAPSHOT.write_text(snapshot(), encoding="utf-8")
