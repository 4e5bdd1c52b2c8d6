"""Whatever stands in a notice, nothing of it is markup, a header, a line of ours or somebody mentioned."""

import unicodedata
from html.parser import HTMLParser

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from spotwarden.model.message import Shape
from spotwarden.model.notice import Table
from spotwarden.notify.templates.text import clean, code_split
from tests.long import examples
from tests.notify.templates.messages import SITE, message, notice, pending, post

MARKUP = (
    "<script>alert(1)</script>", "</span></td></table>", '" onmouseover="x', "' style='x", "&lt;b&gt;",
    "&#60;i&#62;", "<!--", "]]>", "{{ 7 * 7 }}", "{% for a in b %}", "`",
)  # fmt: skip
MENTIONS = ("<!channel>", "<@U123>", "<users/all>", "<https://evil.example|Keep>")
LINES = (
    "\r\nBcc: eve@example.com",
    "\n  > Keep for 8 h: https://evil.example/",
    "Keep for 8 h",
    "https://evil.example",
)
ODD = ("\u2028", "\u202e", "\u2067", "\x00", "\x7f", "\ud800", "\udfff", "\ufffe", "x" * 3000, "")
WRITING = ("\u0645\u0631\u062d\u0628\u0627", "\u05e9\u05dc\u05d5\u05dd", "\U0001f9d1\u200d\U0001f680")
SNIPPETS = st.sampled_from([*MARKUP, *MENTIONS, *LINES, *ODD, *WRITING])
TEXTS = st.lists(st.one_of(SNIPPETS, st.text(max_size=20), st.characters()), max_size=5).map("".join)
TABLES = st.builds(
    Table,
    title=TEXTS,
    columns=st.tuples(TEXTS, TEXTS),
    rows=st.lists(st.tuples(TEXTS, TEXTS), max_size=2).map(tuple),
)
NOTICES = st.builds(
    notice,
    job=TEXTS,
    kind=TEXTS,
    what=TEXTS,
    why=TEXTS,
    todo=TEXTS,
    then=TEXTS,
    owner=TEXTS,
    evidence=st.dictionaries(TEXTS, TEXTS, max_size=4),
    tables=st.lists(TABLES, max_size=2).map(tuple),
)
PENDINGS = st.lists(st.builds(pending, NOTICES, stands_in=TEXTS, because=TEXTS), min_size=1, max_size=3).map(
    lambda many: [replace(one, notice=replace(one.notice, id=str(number))) for number, one in enumerate(many)]
)
TAGS = {
    "html", "head", "meta", "title", "style", "body", "div", "p", "h1", "h2", "strong", "code", "a", "table",
    "caption", "tr", "th", "td", "thead", "tbody", "span",
}  # fmt: skip
ATTRIBUTES = {
    "lang", "charset", "name", "content", "class", "href", "aria-label", "scope", "role", "style", "width",
    "align", "bgcolor", "border", "cellpadding", "cellspacing", "dir",
}  # fmt: skip
COMMENTS = [
    '[if mso]><table role="presentation" width="600" align="center"><tr><td style="padding:16px"><![endif]',
    "[if mso]></td></tr></table><![endif]",
]
"""What Outlook for Windows alone reads."""
CLASSES = {
    "message",
    "box",
    "first",
    "foot",
    "again",
    "lead",
    "item",
    "urgent",
    "tag",
    "go",
    "go grave",
    "row",
    "key",
    "gap",
    "facts",
    "figures",
    "of",
    "quiet",
    "preheader",
    "item urgent",
}
OURS = (
    "No action needed.", "  - ", "  > ", "What ", "Why:", "Or run: ", "You get this ", "You're subscribed ",
    "Each button ", "Figures: ", "-- ", "---", "Spotwarden", "Change how often ", "1. ", "2. ", "3. ",
    "1 of ", "2 of ", "3 of ",
)  # fmt: skip


class Reader(HTMLParser):
    """Reads a page as a browser does, as far as these tests ask."""

    def __init__(self):
        super().__init__()
        self.tags, self.attributes, self.classes = set(), set(), set()
        self.links, self.words, self.comments = [], [], []

    def handle_starttag(self, tag, attrs):
        """Note what there is."""
        self.tags.add(tag)
        given = dict(attrs)
        self.attributes |= set(given)
        self.classes |= {given["class"]} if "class" in given else set()
        self.links += [given["href"]] if "href" in given else []

    def handle_data(self, data):
        """Note what is read."""
        self.words.append(data)

    def handle_comment(self, data):
        """Note what some programs read."""
        self.comments.append(data)


def read(page):
    """What a reader finds on it."""
    reader = Reader()
    reader.feed(page)
    reader.close()
    return reader


@settings(max_examples=examples(100))
@given(PENDINGS)
def test_nothing_of_it_is_markup(pendings):
    """The page has our tags, attributes, classes and links, and no others; its words are the notice.s."""
    page = message(*pendings).html
    found = read(page)
    assert found.tags <= TAGS
    assert found.attributes <= ATTRIBUTES
    assert found.classes <= CLASSES
    assert found.comments == COMMENTS
    assert all(link.startswith(SITE) for link in found.links)
    assert len(found.links) == 2 * len(pendings) + 1
    # A sentence begins with a capital there.
    words = "".join(found.words).lower()
    for one in pendings:
        said = clean(one.notice.why, 300).split(" … (cut")[0].removesuffix(" …")
        assert "".join(part for part, _ in code_split(said)).lower() in words


@settings(max_examples=examples(100))
@given(PENDINGS)
def test_every_line_of_the_text_begins_with_words_of_ours(pendings):
    """No text can pass for a line of the message, such as a link."""
    text = message(*pendings).text
    for line in text.splitlines():
        assert not line or line.startswith(OURS), line
    links = [line for line in text.splitlines() if line.startswith("  > ")]
    assert links == [
        f"  > {label}: {SITE}?t={way}-{number}"
        for number in range(len(pendings))
        for label, way in (("Keep for 8 h", "keep"), ("Stop now", "stop"))
    ]


@settings(max_examples=examples(100))
@given(PENDINGS)
def test_a_subject_is_one_short_line_without_control_characters(pendings):
    """Whatever happened, to whatever job; and never empty."""
    mail = message(*pendings)
    assert 0 < len(mail.subject) <= 60
    for said in (mail.subject, mail.text.replace("\n", ""), *mail.headers.values()):
        assert not {unicodedata.category(char) for char in said} & {"Cc", "Cs", "Zl", "Zp"}
        assert not {"\u202e", "\u2067", "\u200b"} & set(said)
    assert all(value.isascii() for value in mail.headers.values())
    assert mail.thread.isascii()
    mail.html.encode()


@settings(max_examples=examples(100))
@given(PENDINGS, st.sampled_from(list(Shape)))
def test_a_hook_gets_json_without_a_link_or_a_mention(pendings, shape):
    """No link of an answer goes where many people read, and no text can mention anybody."""
    body = post(shape, *pendings)
    assert SITE.encode() not in body
    told = msgspec.json.decode(body)
    if shape is not Shape.JSON:
        assert not {"<", ">"} & set("".join(strings(told)))


@given(TEXTS, st.integers(40, 400))
def test_a_clean_text_stays_as_it_is_and_is_bounded(text, most):
    """Cleaning twice changes nothing; the length is that of the room."""
    once = clean(text, most)
    assert len(once) <= most
    assert clean(once, most) == once
    assert "".join(part for part, _ in code_split(once)).replace("`", "") == once.replace("`", "")


def test_writing_from_right_to_left_and_joined_emoji_are_kept():
    """Only what turns the direction by force is taken out; a word's own direction is its own."""
    words = "\u0645\u0631\u062d\u0628\u0627 \u05e9\u05dc\u05d5\u05dd \U0001f9d1\u200d\U0001f680"
    assert clean(words) == words
    assert f'<span dir="auto">{words}</span>' in message(pending(notice(why=words))).html


def strings(value):
    """Every text within."""
    if isinstance(value, dict):
        return [text for each in value.values() for text in strings(each)]
    if isinstance(value, list):
        return [text for each in value for text in strings(each)]
    return [value] if isinstance(value, str) else []
