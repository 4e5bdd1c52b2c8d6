"""Looks at a page as a person would: in a real browser, on a phone and on a desktop, by day and by night."""

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Literal

import msgspec
from playwright.sync_api import Browser, Page, Route, sync_playwright

from tests.long import ALL

FLAGS = (
    "--headless",
    "--no-sandbox",  # tests run as root in containers
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PHONE, DESKTOP = 320, 1280
AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
_TIMEOUT = 180_000
"""Milliseconds: a machine that runs other tests, too, is slow, and that is no fault of a page."""
_TALL = 6000
"""Of a page that is taller, in CSS pixels, the picture shows only its beginning: a whole one takes long."""
_HERE = re.compile(r"https?://(localhost|127\.0\.0\.1|\[::1\])[:/]")
_MEASURE = """() => ({
    height: document.documentElement.scrollHeight,
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    targets: [...document.querySelectorAll('a, button, input, select, label')].map(one => {
        const box = one.getBoundingClientRect();
        return {name: (one.innerText || one.value || '').trim(), tag: one.tagName.toLowerCase(),
                classes: one.className, width: box.width, height: box.height};
    }),
})"""


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """Something that a finger can hit, with its size in CSS pixels."""

    name: str
    tag: str
    classes: str
    width: float
    height: float


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """What one look showed: axe's violations, how many pixels stick out, what it tried to load."""

    violations: tuple[str, ...]
    overflow: int
    targets: tuple[Target, ...]
    remote: tuple[str, ...]
    text: str

    @property
    def faults(self) -> list[str]:
        """Everything that a page must not have."""
        wide = [f"{self.overflow} px too wide"] if self.overflow > 0 else []
        return [*self.violations, *wide, *(f"loads {url}" for url in self.remote)]


def chromium() -> str | None:
    """Where this machine's browser is; None without one."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@contextmanager
def started(path: str) -> Iterator[Browser]:
    """Start the browser, and end it; its profile is new and goes with it."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS), timeout=_TIMEOUT)
        try:
            yield browser
        finally:
            browser.close()


class Eyes:
    """Looks; keeps a screenshot of each look in `folder` where there is one."""

    def __init__(self, browser: Browser, folder: Path | None) -> None:
        self.browser = browser
        self.folder = folder
        if folder:
            folder.mkdir(parents=True, exist_ok=True)

    def __call__(self, what: str, width: int, *, name: str, dark: bool = False) -> Seen:
        """Look at HTML, or at a URL on this machine, in a window of this width."""
        (seen,) = self._looks(what, [(width, dark)], name)
        return seen

    def everywhere(self, what: str, *, name: str) -> list[Seen]:
        """Look by phone in the dark and at the desktop by day; from all four sides where all is asked for."""
        sides = [(width, dark) for width in (PHONE, DESKTOP) for dark in (False, True)]
        return self._looks(what, sides if ALL else sides[1:3], name)

    def _looks(self, what: str, views: list[tuple[int, bool]], name: str) -> list[Seen]:
        """Open it once, and look at it from each of these sides."""
        looks = []
        with self.page(views[0][0], dark=views[0][1]) as (page, remote):
            show(page, what)
            for width, dark in views:
                scheme = _scheme(dark=dark)
                page.set_viewport_size({"width": width, "height": 720})
                page.emulate_media(color_scheme=scheme)
                looks.append(self.seen(page, remote, name=f"{name}-{width}-{scheme}"))
        return looks

    @contextmanager
    def page(self, width: int, *, dark: bool = False) -> Iterator[tuple[Page, list[str]]]:
        """Open an empty page to act on, and the list of what it tries, in vain, to load from elsewhere."""
        scheme = _scheme(dark=dark)
        context = self.browser.new_context(viewport={"width": width, "height": 720}, color_scheme=scheme)
        context.set_default_timeout(_TIMEOUT)
        remote: list[str] = []

        def stay_here(route: Route) -> None:
            url = route.request.url
            if _HERE.match(url) or not url.startswith("http"):
                route.continue_()
            else:
                remote.append(url)
                route.abort()

        context.route("**/*", stay_here)
        try:
            yield context.new_page(), remote
        finally:
            context.close()

    def seen(self, page: Page, remote: list[str], *, name: str) -> Seen:
        """Examine what a page shows now."""
        measured = page.evaluate(_MEASURE)
        if self.folder:
            page.screenshot(path=self.folder / f"{name}.png", full_page=measured["height"] < _TALL)
        return Seen(
            violations=tuple(violations(page)),
            overflow=measured["overflow"],
            targets=tuple(Target(**one) for one in measured["targets"]),
            remote=tuple(remote),
            text=page.inner_text("body"),
        )


def show(page: Page, what: str) -> None:
    """Go to a URL, or show this HTML."""
    if what.startswith("http"):
        page.goto(what)
    else:
        page.set_content(what)


def violations(page: Page) -> Iterator[str]:
    """What axe-core finds, each with the first element that it is about."""
    # Evaluated rather than added as a script, which a page's Content-Security-Policy forbids.
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE + "; undefined")
    found = page.evaluate("rules => axe.run({runOnly: rules, resultTypes: ['violations']})", RULES)
    for one in found["violations"]:
        yield f"{one['id']}: {one['help']} ({one['nodes'][0]['html'][:200]})"


def _scheme(*, dark: bool) -> Literal["dark", "light"]:
    return "dark" if dark else "light"
