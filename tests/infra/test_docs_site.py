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


@pytest.fixture
def copy(tmp_path):
    """A repository of its own with the same site, to break."""
    shutil.copytree(ROOT / "infra/site", tmp_path / "infra/site")
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    for path in outside():
        here = tmp_path / (path if (ROOT / path).is_dir() else path.parent)
        here.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    return tmp_path


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


@pytest.mark.parametrize(
    ("link", "told"),
    [
        ("[gone](gone.md)", "gone.md"),
        ("[run](run.md#no-such-heading)", "no-such-heading"),
        ("[code](../shared/gone.py)", "shared/gone.py"),
        ("[root](/run.md)", "/run.md"),
    ],
    ids=["page", "heading", "file", "absolute"],
)
def test_a_link_that_leads_nowhere_fails_the_build(copy, tmp_path, link, told):
    """To a page, to a heading of one, to a file of the repository."""
    with (copy / "docs/run.md").open("a", encoding="utf-8") as page:
        page.write(f"\n{link}\n")
    done = build(copy, tmp_path / "site")
    assert done.returncode != 0
    assert told in done.stderr


def test_the_copy_is_built_before_it_is_broken(copy, tmp_path):
    """Else every copy would fail, whatever is done to it."""
    done = build(copy, tmp_path / "site")
    assert done.returncode == 0, done.stderr


def test_a_page_that_stands_nowhere_in_the_navigation_fails_the_build(copy, tmp_path):
    """Nobody would find it."""
    (copy / "docs/lost.md").write_text("# Lost\n", encoding="utf-8")
    done = build(copy, tmp_path / "site")
    assert done.returncode != 0
    assert "lost.md" in done.stderr
