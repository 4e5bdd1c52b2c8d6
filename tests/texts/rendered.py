"""What people get, rendered as they get it: mails, chat messages, pages of answers, `--help`."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from html import unescape
from html.parser import HTMLParser

import click
import msgspec

from localcloud.commands.main import main as local
from spotwarden.cli.main import main
from spotwarden.cli.samples import samples
from spotwarden.model.delivery import Channel, Pace, Pending, Recipient
from spotwarden.model.message import MailLinks, Shape
from spotwarden.model.notice import Notice
from spotwarden.model.offer import PreferenceOffer, Unfit
from spotwarden.notify.links.pages.text import page
from spotwarden.notify.links.reply import AnswerFailed, AnswerTrouble, PreferencesShown, Reply
from spotwarden.notify.templates import hook, mail

_SAID = frozenset({"aria-label", "title", "placeholder"})
NOW = datetime(2026, 11, 23, 14, 0, tzinfo=UTC)
WHO = "ada@example.com"
WIDTH = 100
_LETTERS = re.compile(r"[A-Za-z]{3}")
_FOOTER = re.compile(r"\n-- \n.*", re.DOTALL)


def mails() -> Iterator[tuple[str, str]]:
    """Each kind of notice with its mail, and what a chat message says otherwise."""
    for number, notice in enumerate(samples("1", to=WHO, at=NOW)):
        # What stands below each mail is read one time.
        mailed = _mail(notice) if number == 0 else _FOOTER.sub("", _mail(notice))
        yield notice.kind, f"{mailed.strip()}\n{_chat(notice)}".strip()


def _pending(notice: Notice) -> Pending:
    recipient = Recipient(channel=Channel.EMAIL, address=WHO)
    return Pending(notice=notice, recipient=recipient, since=NOW)


def _mail(notice: Notice) -> str:
    links = MailLinks(
        offers={notice.id: tuple((way, "https://a/") for way in notice.ways)},
        preferences="https://p/",
        report="https://r/",
        keep=timedelta(hours=8),
        extend=timedelta(hours=4),
    )
    made = mail([_pending(notice)], links=links, message_id="m1@example.com", at=NOW, again=False)
    preheader = re.search(r'class="preheader"[^>]*>([^<]*)', made.html)
    before = unescape(preheader[1].strip()) if preheader else ""
    shown = f"Subject: {made.subject}\nPreheader: {before}\n{made.text}"
    return re.sub(r" ?https://[apr]/", "", shown)


def _chat(notice: Notice) -> str:
    """The lines of a Slack message that its mail does not have."""
    post = hook([_pending(notice)], shape=Shape.SLACK, id="p1", at=NOW, again=False)
    body = msgspec.json.decode(post.body)
    said = [text for block in body["blocks"] for text in _texts(block)]
    known = set(_mail(notice).splitlines())
    lines = [line for text in said for line in text.splitlines()]
    return "\n".join(f"Chat: {line}" for line in lines if line not in known and f"  - {line}" not in known)


def _texts(block: object) -> Iterator[str]:
    if isinstance(block, dict):
        if isinstance(text := block.get("text"), str):
            yield text
        for value in block.values():
            yield from _texts(value)
    if isinstance(block, list):
        for value in block:
            yield from _texts(value)


def answer_pages() -> Iterator[tuple[str, str]]:
    """The pages that need no case: of links that are unfit, of trouble, of preferences."""
    offer = PreferenceOffer(to=WHO, expires=NOW)
    plain = PreferencesShown(preference_offer=offer, pace=None, digest=timedelta(hours=1))
    replies: dict[str, Reply] = {
        **{f"link {unfit.name.lower()}": unfit for unfit in Unfit},
        **{
            f"trouble {trouble.name.lower()}": AnswerFailed(trouble=trouble, detail="DETAIL")
            for trouble in AnswerTrouble
        },
        "preferences": plain,
        "preferences saved": msgspec.structs.replace(plain, pace=Pace.DAILY, weekly=True, saved=True),
    }
    for name, reply in replies.items():
        yield name, "\n".join(line for line in _lines(msgspec.to_builtins(page(reply))) if " " in line)


def _lines(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _lines(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _lines(each)


def helps() -> Iterator[tuple[str, str]]:
    """`--help` of every command, `spotwarden local` included."""
    yield from _help(main, "spotwarden", None)
    yield from _help(local, "spotwarden local", None)


def _help(command: click.Command, name: str, parent: click.Context | None) -> Iterator[tuple[str, str]]:
    context = click.Context(
        command,
        info_name=name.rpartition(" ")[2] if parent else name,
        parent=parent,
        terminal_width=WIDTH,
        **command.context_settings,
    )
    yield name, command.get_help(context)
    if isinstance(command, click.Group):
        for each in command.list_commands(context):
            found = command.get_command(context, each)
            if found is not None and not found.hidden and f"{name} {each}" != "spotwarden local":
                yield from _help(found, f"{name} {each}", context)


class Words(HTMLParser):
    """The text nodes of a template, without Jinja's own marks."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._skip = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Text that only a screen reader says counts too."""
        self._skip = tag in {"script", "style"}
        self.found += [
            value for name, value in attrs if name in {"aria-label", "title", "placeholder"} and value
        ]

    def handle_endtag(self, tag: str) -> None:
        """After a script there is text again."""
        self._skip = self._skip and tag not in {"script", "style"}

    def handle_data(self, data: str) -> None:
        """One text node."""
        if not self._skip:
            self.found.append(data)


def words_of_template(text: str) -> list[str]:
    """What a template says by itself, each text one time; values stand as their names in braces."""
    plain = re.sub(r"\{#.*?#\}|\{%.*?%\}", " ", text, flags=re.DOTALL)
    plain = re.sub(r"\{\{\s*(.*?)\s*\}\}", lambda match: "{" + re.split(r"[|(\s]", match[1])[0] + "}", plain)
    words = Words()
    words.feed(plain)
    lines = (" ".join(part.split()) for part in words.found)
    return list(dict.fromkeys(line for line in lines if _LETTERS.search(re.sub(r"\{.*?\}", "", line))))
