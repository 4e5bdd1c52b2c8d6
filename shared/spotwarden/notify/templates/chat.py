"""A message for Google Chat: one card.

Google's documentation, "Card" (REST v1): what goes beyond 100 widgets of a card is left out. "Method:
spaces.messages.create": a message has at most 32,000 bytes. "Add text and images to cards": the texts of a
card are read as HTML, so that no `<` may be in them.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from spotwarden.notify.templates.parts import Bounds, Part
from spotwarden.notify.templates.view import MOST_SHORT, MessageView, Room

ROOM = Room(size=18_000, frame=200, alone=Bounds(todo=800, text=1000, rows=10, cell=200))
_NO_MARKS = str.maketrans({"<": "\u2039", ">": "\u203a"})
"""Single angle quotation marks, which look alike."""
Widget = Mapping[str, Any]


def chat(view: MessageView) -> Mapping[str, Any]:
    """The body of a POST to an incoming webhook; `fallbackText` is what a notification shows."""
    card = {"header": {"title": _safe(view.headline)}, "sections": list(_sections(view))}
    return {"fallbackText": _safe(view.headline), "cardsV2": [{"cardId": "spotwarden", "card": card}]}


def _sections(view: MessageView) -> Iterator[Widget]:
    """With several notices one widget each: there is no room for more."""
    first = [line for line in (*view.first, view.lead) if line]
    if first:
        yield {"widgets": [_paragraph(*first)]}
    for part in view.parts:
        if view.lead:
            title = f"{part.severity.value.capitalize()}: {part.title}"
            yield {"header": _safe(title), "widgets": [_paragraph(*part.told)]}
        else:
            yield {"widgets": [_paragraph(*part.told), *_rows(part), _paragraph(part.reader)]}
    if view.rest:
        yield {"widgets": [_paragraph(view.rest, *view.short[:MOST_SHORT])]}


def _rows(part: Part) -> Iterator[Widget]:
    for label, value in part.rows:
        yield {"decoratedText": {"topLabel": _safe(label), "text": _safe(value), "wrapText": True}}


def _paragraph(*lines: str) -> Widget:
    return {"textParagraph": {"text": "\n".join(map(_safe, lines))}}


def _safe(text: str) -> str:
    return text.translate(_NO_MARKS)
