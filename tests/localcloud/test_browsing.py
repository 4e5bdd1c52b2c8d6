"""What the story makes of a page: what a person would read, and what the button would send."""

from localcloud.story.browsing import read_page

URL = "https://answers.example.com/?t=token"
PAGE = """<!doctype html><title>x</title><main><h1>Keep <em>nap</em>?</h1><p>It will be kept.</p><p>More.</p>
<form method=post action="{action}"><input type=hidden name=t value="a&amp;b"><input type=submit>
<button name=way value=keep>Keep it</button></form>
<form action="/other"><input name=other></form><h1>Another</h1></main>"""


def test_a_page_is_read_as_a_person_reads_it():
    """Its first heading and its first paragraph."""
    page = read_page(URL, PAGE.format(action="/"))
    assert (page.heading, page.says) == ("Keep nap?", "It will be kept.")


def test_a_button_sends_the_fields_of_its_form():
    """Those that have a name, and none of another form."""
    page = read_page(URL, PAGE.format(action="/"))
    assert page.fields == {"t": "a&b", "way": "keep"}
    assert page.action == "https://answers.example.com/"


def test_a_form_without_an_address_goes_to_its_own_page():
    """With all that stands in its address."""
    assert read_page(URL, PAGE.format(action="")).action == URL


def test_a_page_without_a_form_has_nothing_to_press():
    """A page that only tells."""
    assert read_page(URL, "<h1>Done</h1>").action is None
