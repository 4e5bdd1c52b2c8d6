"""A message for Slack: blocks of plain text.

Slack's documentation, "Text object", "Header block", "Section block" and "Blocks": 150 characters in a
header, 3,000 in a text, 10 fields of 2,000 each, 50 blocks; from about 13,000 characters on in all it answers
`msg_blocks_too_long`. "Formatting message text": `&`, `<` and `>` must be escaped; without `<`, no text can
mention anybody.
"""

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from spotwarden.notify.templates.parts import Bounds, Part
from spotwarden.notify.templates.view import MOST_SHORT, MessageView, Room

ROOM = Room(size=9_000, frame=60, alone=Bounds(todo=800, text=1000, rows=10, cell=200))
_HEADER, _TEXT, _FIELD = 150, 2800, 280
Block = Mapping[str, Any]


def slack(view: MessageView) -> Block:
    """The body of a POST to an incoming webhook; `text` is what a notification shows."""
    return {"text": _safe(view.headline, _TEXT), "blocks": list(_blocks(view))}


def _blocks(view: MessageView) -> Iterator[Block]:
    yield {"type": "header", "text": _plain(view.headline, _HEADER)}
    if view.first:
        yield _section(*view.first)
    if not view.lead:
        yield from _alone(view.parts[0])
        return
    yield _section(view.lead)
    for part in view.parts:
        yield _section(f"{part.severity.value.capitalize()}: {part.title}", *part.told)
    if view.rest:
        yield _section(view.rest, *view.short[:MOST_SHORT])


def _alone(part: Part) -> Iterator[Block]:
    yield _section(*part.told)
    if part.rows:
        yield {
            "type": "section",
            "fields": [_plain(f"{label}: {value}", _FIELD) for label, value in part.rows[:10]],
        }
    yield {"type": "context", "elements": [_plain(part.reader, _TEXT)]}


def _section(*lines: str) -> Block:
    return {"type": "section", "text": _plain("\n".join(lines), _TEXT)}


def _plain(text: str, most: int) -> Block:
    return {"type": "plain_text", "text": _safe(text, most), "emoji": False}


def _safe(text: str, most: int) -> str:
    """Escaped, and then at most so long; no escape is cut in two."""
    escaped = escape(text, quote=False)
    while len(escaped) > most:
        text = text[: len(text) - max(1, (len(escaped) - most) // 5)]
        escaped = escape(f"{text} …", quote=False)
    return escaped
