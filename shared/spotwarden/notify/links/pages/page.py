"""What stands on a page, before it is HTML."""

from enum import Enum

import msgspec


class Tone(Enum):
    """Whether a page asks, tells that it is well, or that it is not."""

    ASKS = "asks"
    GOOD = "good"
    BAD = "bad"


class PageChoice(msgspec.Struct, frozen=True, kw_only=True):
    """One of several things to choose from."""

    value: str
    label: str
    detail: str
    chosen: bool = False


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """What a form asks, its field's name, and what there is to choose from."""

    legend: str
    name: str
    choices: tuple[PageChoice, ...]
    needed: bool = False


class TextEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A line of text that a form asks for, and what stands there."""

    legend: str
    name: str
    detail: str
    value: str = ""


class AnswerPage(msgspec.Struct, frozen=True, kw_only=True):
    """One card. With a `button` it has a form, which carries the token and what was chosen.

    A `grave` button ends something. `back` is what the link is called that opens the same link anew.
    """

    code: int
    tone: Tone
    title: str
    says: str
    notes: tuple[str, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    questions: tuple[Question, ...] = ()
    entries: tuple[TextEntry, ...] = ()
    button: str = ""
    grave: bool = False
    back: str = ""
    instead: str = ""
    command: str = ""
    foot: str = ""
