"""Mails use what Outlook for Windows and Gmail show, or have something beside it that they do.

What these programs take is from caniemail.com as of June 2026, the page of each property and element. Outlook
for Windows renders with Word; Gmail's app drops the style sheet for accounts that are not Google's.
"""

import re
from html.parser import HTMLParser
from importlib.resources import files

import pytest

from spotwarden.cli.samples import samples
from tests.notify.templates.messages import ANN, NOW, flood, links, message, pending

CSS = files("spotwarden.notify.templates").joinpath("mail.css").read_text(encoding="utf-8")
PLAIN = re.sub(r"@media[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}", "", CSS)
"""The rules that hold everywhere; those for the dark and for phones only add to them."""
SHOWN = {
    "background", "color", "font", "font-size", "font-weight", "line-height", "margin", "border-collapse",
    "text-align", "text-decoration", "vertical-align", "mso-line-height-rule",
}  # fmt: skip
"""What both programs show, at least with the values that are used here: a background is a color."""
CELLS = {"padding", "padding-left", "border-left", "border-top", "border-color", "width"}
"""What Outlook shows on cells alone (width: on tables, too)."""
CELL = re.compile(r"(th|td|caption|table|\.(key|lead|again|first|figures|facts))$")
ELSEWHERE = {
    ".message": "the table that only Outlook reads has the width and the padding",
    ".item": "a rule and space between notices of one mail: a heading begins each all the same",
    ".foot": "a rule and space above the last lines",
    ".foot a": "space for fingers; Outlook for Windows has a mouse",
    "body": "no padding is asked for, and there is none",
    "code": "space around a command, which has another font and background all the same",
    ".go": "`mso-padding-alt` of its cell",
    ".figures tr": "cells have the same border",
}
"""Where padding or a border stands elsewhere, and what Outlook shows instead."""
EXTRAS = {
    "color-scheme": "says that there are colors for the dark; without it the light ones hold",
    "supported-color-schemes": "the same, for older Apple Mail",
    "max-width": "a table of 600 px for Outlook",
    "min-width": "a short button is narrow",
    "border-radius": "corners are square",
    "overflow-wrap": "`word-break` beside it",
    "word-break": "shown by both; it breaks a word that has no room",
    "font-variant-numeric": "figures may have different widths",
    "display": "Outlook knows `none` alone, which `mso-hide:all` repeats for the preheader",
    "max-height": "the preheader is hidden by its own style",
    "overflow": "the same",
    "opacity": "the same",
}
"""What one of them drops, and what is shown then."""
ELEMENTS = {
    "html", "head", "meta", "title", "style", "body", "div", "p", "h1", "h2", "strong", "span", "code", "a",
    "table", "caption", "thead", "tbody", "tr", "th", "td", "ul", "li",
}  # fmt: skip
"""Both show these. They drop `main`, `section`, `footer` and `bdi`, and their classes with them."""


def rules(css: str) -> list[tuple[str, dict[str, str]]]:
    """Each selector with its declarations."""
    found = []
    for selectors, body in re.findall(r"([^{}]+)\{([^{}]*)\}", css):
        pairs = [line.split(":", 1) for line in body.split(";") if ":" in line]
        told = {name.strip(): value.strip() for name, value in pairs}
        found += [(selector.strip(), told) for selector in selectors.split(",")]
    return found


def dropped(css: str) -> list[str]:
    """What Outlook or Gmail does not show, and that has nothing beside it."""
    found = []
    for selector, told in rules(css):
        found += [
            f"{selector} {{ {name}: {value} }}"
            for name, value in told.items()
            if not shown(selector, name) or ("var(" in value or "rem" in value)
        ]
        if ":" in selector.removeprefix(":root") or re.search(r"[>+~\[*]", selector):
            found.append(f"{selector} is no selector for Gmail")
    return found


def shown(selector: str, name: str) -> bool:
    """Whether a declaration is shown, or what stands in for it is listed."""
    if name in CELLS:
        return bool(CELL.search(selector)) or selector in ELSEWHERE
    return name in SHOWN or name in EXTRAS


class Elements(HTMLParser):
    """Notes the elements of a page, and the styles that they carry themselves."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.buttons: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note it; of buttons, their own style."""
        self.tags.add(tag)
        given = dict(attrs)
        if tag == "a" and (given.get("class") or "").startswith("go"):
            self.buttons.append(given.get("style") or "")


MAILS = [pending(one) for one in samples("1", to=ANN, at=NOW)]
PAGES = [message(one, links=links(one, report="https://report.example.com/")).html for one in MAILS]
PAGES.append(message(*flood(40)).html)


def test_every_rule_is_shown_or_has_something_beside_it() -> None:
    """By Outlook for Windows and by Gmail; a new property needs a line above."""
    assert dropped(PLAIN) == []


@pytest.mark.parametrize(
    "css",
    [
        "p { position: absolute; }",
        ".lead { box-shadow: 0 0 2px #000; }",
        "p { padding: 8px; }",
        "div { border-left: 4px solid #000; }",
        "td:first-child { color: #000; }",
        ".row > td { color: #000; }",
        "td { color: var(--ink); }",
        "p { font-size: 1rem; }",
        ".row { display: flex; float: left; }",
    ],
)
def test_what_a_program_drops_is_found(css: str) -> None:
    """Else the test above holds nothing."""
    assert dropped(css)


def test_every_fallback_is_for_a_rule_that_there_is() -> None:
    """What no rule uses any more needs none."""
    used = rules(PLAIN)
    assert {selector for selector, _ in used} >= set(ELSEWHERE)
    assert {name for _, told in used for name in told} >= set(EXTRAS)


def test_a_mail_of_every_kind_has_only_elements_that_are_shown() -> None:
    """Of all kinds, and of many notices in one mail."""
    assert {tag for page in PAGES for tag in Elements(page).tags} <= ELEMENTS


def test_a_button_is_one_without_the_style_sheet() -> None:
    """Its cell has the color and Outlook's padding, and its link its own padding and a color to read."""
    for page in PAGES:
        styles = Elements(page).buttons
        assert page.count('style="mso-padding-alt:11px 16px"') == page.count("bgcolor=") == len(styles)
        assert set(styles) <= {"display:inline-block;padding:11px 16px;color:#ffffff;text-decoration:none"}
    assert any(Elements(page).buttons for page in PAGES)


def test_outlook_for_windows_gets_a_width_and_a_margin_from_a_table() -> None:
    """It has no max-width, and padding only in cells."""
    head = '<!--[if mso]><table role="presentation" width="600" align="center"><tr><td style="padding:16px">'
    assert all(head in page for page in PAGES)


def test_stop_looks_dangerous_and_nothing_harmless_does() -> None:
    """Red for what stops or approves, blue for the rest, also where the style sheet is dropped."""
    found = {
        (color, label)
        for page in PAGES
        for color, label in re.findall(r'bgcolor="(#\w+)"[^>]*>\s*<a [^>]*>([^<]*)</a>', page)
    }
    assert {label for color, label in found if color == "#b3261e"} == {"Stop now", "Approve"}
    assert {"Restart", "Open the report"} <= {label for color, label in found if color == "#0b57d0"}
