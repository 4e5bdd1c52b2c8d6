"""The report in a real browser: fit for everybody, live with a script, whole without, safe, by keyboard."""

import pytest
from playwright.sync_api import expect

from spotwarden.model.standing import Standing
from tests.pages import report_made_up as made_up
from tests.pages.browser import DESKTOP, PHONE
from tests.pages.report_site import Site, serving

expect.set_options(timeout=60_000)
VM = "7700000000000000001"
PAGES = {
    "experiments": "?q=vision+train-0001",
    "job": "jobs/train-00007",
    "compare": "compare?job=train-00007&job=train-00003&job=train-00005",
    "fleet": "fleet",
    "trust": f"trust?about={VM}",
}


@pytest.fixture(scope="module")
def site():
    """A made-up fleet of 40 jobs, and one of which nothing is known."""
    return Site()


@pytest.fixture(scope="module")
def url(site):
    """Where it is served, over real HTTP, with the headers of the real pages."""
    with serving(site) as address:
        yield address


@pytest.fixture
def visit(browser, url):
    """A browser's page at an address of the report; what it complains of must be nothing."""
    contexts, troubles = [], []

    def open_at(path="", *, width=DESKTOP, script=True):
        context = browser.new_context(
            viewport={"width": width, "height": 720}, java_script_enabled=script, reduced_motion="reduce"
        )
        contexts.append(context)
        context.set_default_timeout(60_000)
        page = context.new_page()
        page.on("console", lambda message: troubles.append(message.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("request", lambda one: None if one.url.startswith(url) else troubles.append(one.url))
        page.goto(url + path)
        return page

    yield open_at
    for context in contexts:
        context.close()
    assert troubles == []


@pytest.mark.parametrize("name", PAGES)
def test_every_page_is_fit_for_everybody(look, url, name):
    """No violation that axe knows, nothing too wide, nothing from elsewhere: by phone and at a desktop."""
    for seen in look.everywhere(url + PAGES[name], name=f"report-{name}"):
        assert seen.faults == []


@pytest.mark.parametrize("path", ["jobs/nobody-knows", "no/such/page", "compare", "?q=nothing-like-this"])
def test_a_page_with_nothing_to_show_is_fit_too(look, url, path):
    """A job of which nothing is known, no such page, nothing to compare, nothing found."""
    seen = look(url + path, PHONE, name=f"report-empty-{len(path)}", dark=True)
    assert seen.faults == []
    assert "0.00" not in seen.text


def test_the_table_answers_while_one_types(visit):
    """A word in the search changes the rows and the address, and the page is not loaded anew."""
    page = visit()
    page.evaluate("window.same = true")
    page.keyboard.press("Tab")  # the link that skips the head
    assert page.evaluate("document.activeElement.innerText") == "Skip to the content"
    page.focus("input[name=q]")
    page.keyboard.type("train-00032")
    expect(page.locator("tbody tr")).to_have_count(1)
    assert page.inner_text("#said") == page.inner_text("#count") == "1 of 41 jobs; rows 1 to 1"
    assert "q=train-00032" in page.url
    assert page.evaluate("window.same")
    assert page.evaluate("document.activeElement.name") == "q"


def test_a_column_is_sorted_by_keyboard(visit):
    """Enter on its head sorts, again turns the order round; the focus stays, and so does the order."""
    page = visit()
    for order, first in (("descending", "train-00040"), ("ascending", "train-00001")):
        page.focus("#by-cost")
        page.keyboard.press("Enter")
        page.wait_for_selector(f"th[aria-sort={order}] #by-cost")
        assert page.evaluate("document.activeElement.id") == "by-cost"
        assert page.inner_text("tbody th >> nth=0") == first
    page.fill("input[name=q]", "train-0001")
    expect(page.locator("tbody tr")).to_have_count(10)
    assert page.inner_text("tbody th >> nth=0") == "train-00010"


def test_what_was_typed_just_before_a_click_is_asked_with_it(visit):
    """A column's head, at once after the last message: the rows are those searched for, in its order."""
    page = visit()
    page.evaluate("""() => {
        const q = document.querySelector('input[name=q]');
        q.value = 'train-0001';
        q.dispatchEvent(new Event('input', {bubbles: true}));
        document.getElementById('by-job').click();
    }""")
    page.wait_for_selector("th[aria-sort=ascending] #by-job")
    expect(page.locator("tbody th")).to_have_text([f"train-000{number}" for number in range(10, 20)])
    assert "sort=job" in page.url


def test_jobs_are_compared_by_keyboard(visit):
    """Two are ticked with the space bar, one before a search; their curves are read value by value."""
    page = visit()
    page.focus("input[value=train-00003]")
    page.keyboard.press("Space")
    page.fill("input[name=q]", "train-00007")
    expect(page.locator("tbody tr")).to_have_count(1)
    page.focus("input[value=train-00007]")
    page.keyboard.press("Space")
    assert page.inner_text("[data-chosen]") == "2 of 2 to 4 jobs selected"
    page.focus("form[data-compare] button")
    page.keyboard.press("Enter")
    page.wait_for_selector("figure canvas")
    assert page.title().startswith("Compare train-00007, train-00003")
    page.focus("[data-plot]")
    page.keyboard.press("ArrowRight")
    assert page.inner_text(".readout >> nth=0").startswith("step 10: train-00007 1.8, train-00003 2")


def test_no_fifth_job_can_be_ticked(visit):
    """Four are ticked, and the other boxes rest until one of them is taken back."""
    page = visit()
    boxes = page.locator("input[name=job]")
    for number in range(4):
        boxes.nth(number).check()
    assert boxes.nth(4).is_disabled()
    boxes.nth(0).uncheck()
    assert boxes.nth(4).is_enabled()


def test_a_curve_is_looked_at_closer_by_keyboard(visit):
    """Plus halves what is shown, Escape shows all; a value that is no number is said to be unknown."""
    page = visit("jobs/train-00007")
    page.wait_for_selector("figure canvas")
    place = page.locator("[data-plot]").first
    assert "Arrow keys" in place.get_attribute("aria-label")
    place.focus()
    labels = page.evaluate("document.querySelectorAll('.curve').length")
    assert labels > 0
    for _ in range(40):
        page.keyboard.press("ArrowRight")
    assert page.inner_text(".readout >> nth=0") == "step 400: loss unknown"
    page.keyboard.press("+")
    page.keyboard.press("Escape")


def test_why_a_vm_was_deleted_takes_two_clicks(visit):
    """From the table to the job, from its VM to the reason, and the evidence is on the same page."""
    page = visit("?q=train-00007")
    page.click("tbody th a")
    page.click(f"text={VM}")
    assert page.inner_text("#answer") == f"What happened to {VM}"
    assert "Deleted by reap_vms: its job has ended." in page.inner_text(".note")
    page.click("text=The evidence")
    assert page.inner_text(":target th").startswith("Delete instance")


def test_all_of_it_works_without_a_script(visit):
    """Search, order, comparison and curves are the server's: forms, links and pictures."""
    page = visit(script=False)
    page.fill("input[name=q]", "train-0001")
    page.press("input[name=q]", "Enter")
    assert page.locator("tbody tr").count() == 10
    page.click("#by-job")
    assert page.inner_text("tbody th >> nth=0") == "train-00010"
    page.check("input[value=train-00011]")
    page.check("input[value=train-00012]")
    page.click("form[data-compare] button")
    assert page.locator("figure svg path.c2").count() > 0
    assert page.inner_text("thead").split() == ["Figure", "train-00011", "train-00012"]


def test_a_time_zone_is_chosen_and_kept(visit):
    """The reader's own zone can be chosen; moments are shown by it, on the next page, too."""
    page = visit("?q=train-00007")
    tokyo = "document.querySelector('select[name=tz]').append(new Option('Asia/Tokyo', 'Asia/Tokyo'))"
    page.evaluate(tokyo)
    page.fill("input[name=q]", "train-00008")
    expect(page.locator("tbody th")).to_have_text("train-00008")
    page.select_option("select[name=tz]", "Asia/Tokyo")
    page.wait_for_selector("text=Times are in Asia/Tokyo")
    assert page.inner_text("tbody time >> nth=0") == "2026-11-20 15:52"
    page.click("tbody th a")
    assert "Times are in Asia/Tokyo" in page.inner_text("footer")


def test_what_others_wrote_stays_text(look, site, url):
    """A job, owner, tag or metric that is markup is shown as it is written; nothing of it runs."""
    attack = "</script><svg onload=alert(1)>'\"><img src=x onerror=alert(1)>\u202e"
    hostile = made_up.experiment(7, job="train-99999", owner=attack, team=attack, tags={attack: attack})
    before, site.table = site.table, made_up.table(0, hostile)
    try:
        with look.page(PHONE) as (page, remote):
            troubles = []
            page.on("dialog", lambda dialog: (troubles.append(dialog.message), dialog.dismiss()))
            page.on("console", lambda message: troubles.append(message.text))
            for path in ("", "jobs/train-99999"):
                page.goto(url + path)
                assert "<img src=x onerror=alert(1)>" in page.inner_text("main")
                assert "\u202e" not in page.content()
            assert (troubles, remote) == ([], [])
    finally:
        site.table = before


def test_every_standing_is_told_by_more_than_its_colour(visit):
    """Its word stands beside each sign, and pages that print have it, too."""
    page = visit("?size=50&sort=job")
    told = set(page.locator("td .chip").all_inner_texts())
    assert told == {standing.value for standing in Standing}
    page.emulate_media(media="print")
    assert page.is_visible("td .chip >> nth=0")
    assert not page.is_visible("form.ask")
