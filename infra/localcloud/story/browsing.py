"""What a person does with a link: open the page, read it, press its button."""

from collections.abc import Mapping
from html.parser import HTMLParser
from urllib.parse import urljoin

import msgspec


class BrowsedPage(msgspec.Struct, frozen=True, kw_only=True):
    """A page as a person sees it: its heading, what it says first, and the form on it, where there is one."""

    url: str
    heading: str
    says: str
    action: str | None
    fields: Mapping[str, str]


def read_page(url: str, html: str) -> BrowsedPage:
    """Read a page. Of several forms it is the first; its fields are what the button would send."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    action = None if reader.action is None else urljoin(url, reader.action or url)
    heading, says = (" ".join("".join(reader.words[tag]).split()) for tag in ("h1", "p"))
    return BrowsedPage(url=url, heading=heading, says=says, action=action, fields=reader.fields)


class _Reader(HTMLParser):
    """Collects the first heading, the first paragraph, and the first form with its fields."""

    def __init__(self) -> None:
        super().__init__()
        self.words: dict[str, list[str]] = {"h1": [], "p": []}
        self.fields: dict[str, str] = {}
        self.action: str | None = None
        self._inside: list[str] | None = None
        self._in_form = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Enter the heading, the paragraph or the form, or take a field."""
        said = dict(attrs)
        if tag in self.words and not self.words[tag]:
            self._inside = self.words[tag]
        elif tag == "form" and self.action is None:
            self._in_form, self.action = True, said.get("action") or ""
        elif tag in {"input", "button"} and self._in_form and (name := said.get("name")):
            self.fields.setdefault(name, said.get("value") or "")

    def handle_endtag(self, tag: str) -> None:
        """Leave it."""
        if tag in self.words:
            self._inside = None
        elif tag == "form":
            self._in_form = False

    def handle_data(self, data: str) -> None:
        """Take the words of what it is in."""
        if self._inside is not None:
            self._inside.append(data)
