"""What report_jobs itself answers, in a real browser: over HTTP, and as the copy in the bucket."""

from threading import Thread

import pytest
from werkzeug.serving import make_server
from werkzeug.wrappers import Request

from spotwarden.report.web import respond
from tests.pages.browser import DESKTOP
from tests.pages.report_site import Quiet
from tests.report.report_world import HOUR, ReportWorld


@pytest.fixture(scope="module")
def world():
    """Two jobs; one of them was preempted, and is back."""
    world = ReportWorld()
    world.job("bert", ago=3 * HOUR)
    world.again(world.job("gpt", ago=5 * HOUR), lost=world.now - 2 * HOUR, started=world.now - HOUR)
    world.tick()
    return world


@pytest.fixture(scope="module")
def url(world):
    """Where the function answers."""

    def answer(request):
        return respond(request, world.context())

    server = make_server("127.0.0.1", 0, Request.application(answer), request_handler=Quiet)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def visit(look):
    """Open addresses one after another; gives each page's text. Of nothing is there a complaint."""
    with look.page(DESKTOP) as (page, remote):
        troubles = []
        page.on("console", lambda message: troubles.append(message.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))

        def open_at(where):
            page.goto(where)
            assert page.evaluate("getComputedStyle(document.querySelector('header.top')).display") == "flex"
            return page.inner_text("main")

        yield open_at
        assert (troubles, remote) == ([], [])


def test_each_address_is_a_page_that_a_browser_takes_whole(visit, url):
    """With the function's own headers no style, script or request is refused."""
    for path, words in {
        "": "bert",
        "jobs/gpt": "us-central1-b",
        "fleet": "Goodput",
        "trust": "what was done, and why",
        "compare?job=bert&job=gpt": "equal values are gray",
    }.items():
        assert words in visit(url + path)


def test_the_copy_needs_no_server(visit, world, tmp_path):
    """Its files, in a folder, are the same pages, with their style."""
    for path, body in world.report().items():
        if path.startswith("site/"):
            file = tmp_path / path.removeprefix("site/")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(body)
    home = tmp_path.as_uri()
    assert "bert" in visit(f"{home}/index.html")
    assert "us-central1-b" in visit(f"{home}/jobs/gpt.html")
    for name in ("fleet", "trust"):
        assert visit(f"{home}/{name}.html")
    for name in ("index.json", "index.csv", "fleet.json", "fleet.csv"):
        assert (tmp_path / name).stat().st_size > 0
