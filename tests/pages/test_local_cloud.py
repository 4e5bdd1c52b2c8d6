"""A web page in a real browser, and the local cloud: it gets nothing done there, and reads nothing."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from localcloud.cloud import LocalCloud, Options
from tests.localcloud.compute.world import request
from tests.localcloud.stand import Stand
from tests.pages.browser import FLAGS, chromium

PUBLIC = "evil.example"
"""A name that the browser takes for a public one; it is made to lead to this machine."""
INSTANCES = "/compute/v1/projects/demo/zones/us-central1-a/instances"
MAIL = """HELO a
MAIL FROM:<e@example.com>
RCPT TO:<a@example.com>
DATA
Subject: forged

.
QUIT
""".replace("\n", "\r\n")

FORM = """([url, body]) => {
    const form = document.createElement('form'), field = document.createElement('input');
    [form.method, form.enctype, form.action, form.target] = ['post', 'text/plain', url, 'answer'];
    // A form sends NAME=VALUE: the sign becomes part of a text.
    [field.name, field.value] = [body.slice(0, -2), body.slice(-2)];
    const frame = document.createElement('iframe');
    frame.name = 'answer';
    document.body.append(frame);
    form.append(field);
    document.body.append(form);
    return new Promise(done => { frame.onload = () => done('sent'); form.submit(); });
}"""
FETCH = """([url, body, type, mode]) => fetch(url, {
    method: 'POST', mode, body: type === null ? new Blob([body]) : new Blob([body], {type}),
}).then(answer => answer.type === 'opaque' ? 'opaque' : `${answer.status}`, () => 'failed')"""
READ = "url => fetch(url).then(answer => answer.text(), () => 'failed')"
BEACON = "([url, body]) => navigator.sendBeacon(url, new Blob([body], {type: 'text/plain'}))"


class Evil(BaseHTTPRequestHandler):
    """A web server that serves an empty page."""

    def do_GET(self) -> None:
        """Serve it."""
        page = b"<!doctype html><title>evil</title><body></body>"
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.send_header("content-length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, *_words: object) -> None:
        """Say nothing."""


@dataclass(frozen=True, kw_only=True)
class Cloud:
    """A local cloud, and where its mail server listens."""

    url: str
    smtp: int

    @property
    def port(self) -> str:
        """Its port for HTTP."""
        return self.url.rpartition(":")[2]

    def get(self, path: str) -> Any:
        """What a path tells its owner."""
        return httpx.get(self.url + path, trust_env=False).raise_for_status().json()

    @property
    def names(self) -> list[str]:
        """The VMs that there are."""
        return [item["name"] for item in self.get(INSTANCES).get("items", [])]


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    """A local cloud whose VMs have no processes."""
    stand = Stand()
    state: Path = tmp_path_factory.mktemp("state")
    try:
        local = stand.call(LocalCloud, Options(project="demo", state=state, machines=False))
        stand.run(local.__aenter__())
        yield Cloud(url=local.endpoints.http, smtp=local.mailbox.port)
        stand.run(local.__aexit__())
    finally:
        stand.close()


@pytest.fixture(scope="module")
def evil() -> Iterator[int]:
    """The port of a web server that is nobody's friend."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Evil) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def misled() -> Iterator[Browser]:
    """A browser for which a public name leads to this machine, as after DNS rebinding."""
    path = chromium()
    if path is None:
        pytest.skip("no chromium on this machine (Debian's package: chromium)")
    flags = [*FLAGS, f"--host-resolver-rules=MAP {PUBLIC} 127.0.0.1"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=flags)
        yield browser
        browser.close()


@contextmanager
def at(browser: Browser, url: str) -> Iterator[Page]:
    """A page that the browser shows."""
    context = browser.new_context()
    try:
        page = context.new_page()
        page.goto(url)
        yield page
    finally:
        context.close()


def body(name: str) -> str:
    """A VM that would run a script, as a form can send it: the last text may have a sign in it."""
    script = {"items": [{"key": "startup-script", "value": "touch /tmp/ran"}]}
    return json.dumps({**request(name, metadata=script), "description": "="})


ORIGINS = [PUBLIC, "127.0.0.1", "localhost"]


@pytest.mark.parametrize("host", ORIGINS)
def test_a_page_from_elsewhere_has_no_vm_made(misled: Browser, cloud: Cloud, evil: int, host: str):
    """Neither by a form nor by a script: from a public place, or from another port of this machine."""
    url = cloud.url + INSTANCES
    with at(misled, f"http://{host}:{evil}/") as page:
        assert page.evaluate(FORM, [url, body("form")]) == "sent"
        send = partial(page.evaluate, FETCH)
        assert send([url, body("plain"), "text/plain", "no-cors"]) == "opaque"
        assert send([url, body("untyped"), None, "no-cors"]) == "opaque"
        assert send([url, body("asked-first"), "application/json", "cors"]) == "failed"
        with page.expect_event("requestfinished"):
            page.evaluate(BEACON, [url, body("beacon")])
        assert page.evaluate(READ, f"{cloud.url}/local/mailbox.json") == "failed"
    assert cloud.names == []
    assert cloud.get(f"{INSTANCES.removesuffix('instances')}operations").get("items", []) == []


@pytest.mark.parametrize("host", ORIGINS)
def test_a_form_is_answered_with_a_sentence(misled: Browser, cloud: Cloud, evil: int, host: str):
    """403, and where it came from."""
    with at(misled, f"http://{host}:{evil}/") as page:
        with page.expect_response(cloud.url + INSTANCES) as answered:
            page.evaluate(FORM, [cloud.url + INSTANCES, body("form")])
        said = answered.value.json()["error"]
    assert said["code"] == 403
    assert said["message"] == (
        f"The local cloud answers no web page but its own; this request comes from 'http://{host}:{evil}'."
    )


def test_a_name_that_was_made_to_lead_here_is_refused(misled: Browser, cloud: Cloud):
    """DNS rebinding: to the browser page and local cloud are one origin then, and all headers are right."""
    with at(misled, f"http://{PUBLIC}:{cloud.port}/local/mailbox") as page:
        assert f"not '{PUBLIC}:{cloud.port}'" in page.inner_text("body")
        assert page.evaluate(FETCH, [INSTANCES, body("rebound"), "application/json", "same-origin"]) == "403"
        assert "The local cloud is called" in page.evaluate(READ, "/local/mailbox.json")
    assert cloud.names == []


def test_a_page_sends_no_mail(misled: Browser, cloud: Cloud, evil: int):
    """The commands of a mail as the body of a form: the mail server hangs up at the first line of HTTP."""
    with at(misled, f"http://127.0.0.1:{evil}/") as page:
        assert (
            page.evaluate(FETCH, [f"http://127.0.0.1:{cloud.smtp}/", MAIL, "text/plain", "no-cors"])
            == "failed"
        )
    assert cloud.get("/local/mailbox.json") == []


def test_a_link_leads_to_the_mailbox_and_to_nothing_else(misled: Browser, cloud: Cloud, evil: int):
    """A person may follow it from anywhere; a frame of another page does not show it."""
    with at(misled, f"http://{PUBLIC}:{evil}/") as page:
        go = "url => { location.href = url }"
        with page.expect_navigation():
            page.evaluate(go, f"{cloud.url}/local/mailbox")
        assert "Mailbox" in page.inner_text("h1")
    with at(misled, f"http://{PUBLIC}:{evil}/") as page:
        with page.expect_navigation() as gone:
            page.evaluate("url => { location.href = url }", f"{cloud.url}/local/env")
        assert gone.value.status == 403
    with at(misled, f"http://{PUBLIC}:{evil}/") as page:
        frame = "url => { const f = document.createElement('iframe'); f.src = url; document.body.append(f) }"
        with page.expect_response(f"{cloud.url}/local/mailbox") as framed:
            page.evaluate(frame, f"{cloud.url}/local/mailbox")
        assert framed.value.status == 403


def test_a_page_of_our_own_may(misled: Browser, cloud: Cloud):
    """One fact apart: where the page is from. A person who types the address may look, too."""
    with at(misled, f"{cloud.url}/local/env") as page:
        assert page.evaluate(FETCH, [INSTANCES, body("ours"), "application/json", "cors"]) == "200"
    assert cloud.names == ["ours"]
