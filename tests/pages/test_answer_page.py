"""The pages that links open, in a real browser: phone and desktop, day and night, keyboard."""

from datetime import timedelta
from threading import Thread

import pytest
from werkzeug.serving import make_server
from werkzeug.wrappers import Request

from spotwarden.model.governance import Limits, Remedy
from spotwarden.model.notice import Way
from spotwarden.model.offer import PreferenceOffer
from tests.governance.made_up import RULE, MadeUp
from tests.notify.links.answer_web import ADA, Web
from tests.pages.browser import PHONE

LEAST = 44
"""Pixels that a finger hits (WCAG 2.2, "Target Size")."""
LONG = "a-job-with-the-longest-name-that-compute-engine-takes-for-a-vm1"


@pytest.fixture(scope="module")
def web():
    """Ada, with a message about her VM before her."""
    world = MadeUp(Limits(remedy=Remedy.STOP, grace=timedelta(minutes=30)))
    world.id = world.vm(LONG)
    world.sweep()
    return Web(world)


@pytest.fixture(scope="module")
def site(web):
    """Where the function answers: over real HTTP, on this machine."""
    server = make_server("127.0.0.1", 0, Request.application(web._respond), threaded=True)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()


def preference_offer(web):
    """The token of a link to Ada's preferences."""
    return web.token(PreferenceOffer(to=ADA, expires=web.now + timedelta(days=30)))


@pytest.mark.parametrize("what", ["stop", "preferences", "broken", "kept"])
def test_every_page_is_fit_for_everybody(look, web, what):
    """No violation that axe knows, nothing too wide, nothing from elsewhere."""
    for seen in look.everywhere(_page(web, what), name=f"answer-{what}"):
        assert seen.faults == []
        small = [one for one in seen.targets if one.tag in {"button", "label"} and one.height < LEAST]
        assert small == []


def _page(web, what):
    """The HTML of a page of this kind: it asks, refuses, or is done."""
    pages = {
        "stop": lambda: web.open(web.token(Way.STOP)),
        "preferences": lambda: web.open(preference_offer(web)),
        "broken": lambda: web.open("x"),
        "kept": lambda: web.click(web.token(web.offer(Way.KEEP, to="bob@x.org"))),
    }
    return pages[what]().text


def test_a_vm_is_kept_by_keyboard_alone(look, web, site):
    """One tab to the button, and enter; the browser keeps to the page's policy, and the address forgets."""
    token = web.token(Way.KEEP)
    with look.page(PHONE) as (page, remote):
        troubles = []
        page.on("console", lambda message: troubles.append(message.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.goto(f"{site}?t={token}")
        assert page.evaluate("getComputedStyle(document.querySelector('button')).minHeight") == "48px"
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.innerText") == "Keep for 8 h"
        page.keyboard.press("Enter")
        page.wait_for_selector("main.good")
        assert "Spotwarden takes no action on" in page.inner_text("main")
        assert token not in page.url
        assert (troubles, remote) == ([], [])
    assert web.world.case(RULE, web.world.id).kept_by == ADA


def test_a_pace_is_chosen_by_keyboard_alone(look, web, site):
    """Tab to the choices, an arrow to the next, tab past what else is asked to the button, and enter."""
    with look.page(PHONE) as (page, _):
        page.goto(f"{site}?t={preference_offer(web)}")
        page.click("text=As it happens")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Tab")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.wait_for_selector("main.good")
        assert page.is_checked("input[value=hourly]")
