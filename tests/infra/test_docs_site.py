"""The pages of docs/ as a site: built strictly, so that no link of theirs leads nowhere."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md"))
NO_WAY_OUT = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), "http://127.0.0.1:9")
"""Whoever asks for anything outside is refused."""


def build(root, folder):
    """Build the site of this repository strictly, with no way to any server."""
    config = str(root / "infra/site/mkdocs.yml")
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", config, "-d", str(folder)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={**os.environ, **NO_WAY_OUT},
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, built once; a warning of any kind is an error."""
    folder = tmp_path_factory.mktemp("site")
    done = build(ROOT, folder)
    assert done.returncode == 0, done.stderr
    return folder


def outside():
    """The files beyond docs/ that pages link to."""
    for page in PAGES:
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        for target in re.findall(r"\]\((\.\./[^)#\s]*)", text):
            path = (ROOT / "docs" / page.parent / target).resolve()
            if not path.is_relative_to(ROOT / "docs"):
                yield path.relative_to(ROOT)


def test_every_page_is_in_the_site(site):
    """None is left out, and the index is the first page."""
    for page in PAGES:
        assert (site / page.with_name(page.name.replace("README", "index"))).with_suffix(".html").is_file()


def test_the_site_asks_no_other_server_for_anything(site):
    """Neither fonts nor scripts, styles or pictures: it can be read where there is no network."""
    pages = [path.read_text(encoding="utf-8") for path in site.rglob("*.html")]
    asked = [
        tag
        for text in pages
        for tag in re.findall(r"<(?:script|link|img|iframe)\b[^>]*(?:src|href)=\"?(?:https?:)?//[^>]*>", text)
        if 'rel="canonical"' not in tag
    ]
    assert asked == []
    assert "fonts.googleapis" not in "".join(pages)


def test_a_link_to_a_file_that_is_no_page_is_shown_as_its_path(site):
    """The site has no such file; who reads it finds it in a clone."""
    page = (site / "job-kit.html").read_text(encoding="utf-8")
    assert "<code>infra/job/kit/</code>" in page
    assert "../infra/job/kit" not in page


WRONG = {
    "run.md": "[gone](gone.md)\n[run](#no-such-heading)\n[code](../shared/gone.py)\n[root](/run.md)\n",
    "lost.md": "# Lost\n",
}
"""What is wrong in a page of this name, or with it."""


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """What the build says of a copy with all of that in it."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(ROOT / "infra/site", folder / "infra/site")
    shutil.copytree(ROOT / "docs", folder / "docs")
    for path in outside():
        here = folder / (path if (ROOT / path).is_dir() else path.parent)
        here.mkdir(parents=True, exist_ok=True)
        (folder / path).touch()
    for name, text in WRONG.items():
        with (folder / "docs" / name).open("a", encoding="utf-8") as page:
            page.write(f"\n{text}")
    done = build(folder, folder / "site")
    assert done.returncode != 0
    return done.stderr


@pytest.mark.parametrize(
    "told",
    ["'gone.md'", "'#no-such-heading'", "'shared/gone.py'", "'/run.md'", "- lost.md"],
    ids=["page", "heading", "file", "absolute", "in no navigation"],
)
def test_what_leads_nowhere_or_is_nowhere_fails_the_build(said, told):
    """A link to a page, to a heading of one, to a file of the repository; a page that nobody would find."""
    assert told in said


def test_nothing_else_fails_the_build_of_the_copy(said):
    """Else it would fail whatever is done to it."""
    assert said.count("WARNING -") == 5
