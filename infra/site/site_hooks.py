"""What the site does beyond mkdocs: patterns in its navigation, and links to files that are no pages.

On GitHub a page may link to any file of the repository. The site has only the pages, so there such a link
becomes the file's path; a path that does not exist fails the strict build.
"""

import logging
import re
from collections.abc import Iterator
from pathlib import Path
from posixpath import normpath
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page

LOG = logging.getLogger("mkdocs.hooks.spotwarden")
ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"\[(?P<text>[^\]]*)\]\((?P<target>\.\./[^)#\s]*)(?:#[^)\s]*)?\)")
"""A link that leaves its own folder upward; only such a one can leave docs/."""


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Replace each pattern of the navigation by the pages that it matches and that are not in it yet."""
    docs, seen = Path(config.docs_dir), set[str]()
    config.nav = list(_expanded(config.nav or [], docs, seen))
    return config


def _expanded(entries: list[Any], docs: Path, seen: set[str]) -> Iterator[Any]:
    for entry in entries:
        if isinstance(entry, dict):
            yield {title: list(_expanded(below, docs, seen)) for title, below in entry.items()}
            continue
        found = [path.relative_to(docs).as_posix() for path in sorted(docs.glob(entry))] or [entry]
        yield from (path for path in found if path not in seen)
        seen.update(found)


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Give the page's text with links to files outside docs/ as code; warn of those that do not exist."""
    del config, files
    return LINK.sub(lambda link: _shown(link, page.file.src_uri), markdown)


def _shown(link: re.Match[str], page: str) -> str:
    path = normpath(f"docs/{page}/../{link['target']}")
    if path.startswith("docs/"):
        return link[0]
    if not (ROOT / path).exists():
        LOG.warning("Doc file '%s' links to '%s', which the repository does not have.", page, path)
    if link["target"].endswith("/"):
        path += "/"
    return f"`{path}`" if link["text"].strip("`") == path else f"{link['text']} (`{path}`)"
