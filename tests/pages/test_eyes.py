"""That the browser's eyes see what they are there for: a look that finds nothing must mean something."""

import pytest

from tests.pages.browser import DESKTOP, PHONE, Eyes

GOOD = (
    "<!doctype html><html lang=en><head><title>Fine</title>"
    "<meta name=viewport content='width=device-width'></head>"
    "<body><main><h1>Fine</h1><p>Nothing is wrong here.</p>{}</main></body></html>"
)


def test_a_plain_page_has_no_faults(browser, tmp_path):
    """Nothing is found where nothing is wrong, at any width, light or dark; each look leaves a picture."""
    looks = Eyes(browser, tmp_path).everywhere(GOOD.format(""), name="fine")
    assert [seen.faults for seen in looks] == [[] for _ in looks]
    pictures = [picture.stat().st_size for picture in tmp_path.glob("fine-*.png")]
    assert len(pictures) == len(looks)
    assert min(pictures) > 1000


@pytest.mark.parametrize(
    ("part", "fault"),
    [
        ("<p style='color:#aaa;background:#fff'>pale</p>", "color-contrast"),
        ("<a href='https://example.com'></a>", "link-name"),
        ("<img src='data:,' >", "image-alt"),
        ("<img alt=picture src='https://example.com/p.png'>", "loads https://example.com/p.png"),
        ("<p style='width:400px'>wide</p>", "px too wide"),
    ],
)
def test_a_fault_is_seen(look, part, fault):
    """Pale text, a link without a name, remote content, a page wider than a phone: each is found."""
    faults = look(GOOD.format(part), PHONE, name="faulty").faults
    assert len(faults) == 1
    assert fault in faults[0]


def test_what_fits_the_desktop_may_be_too_wide_for_a_phone(look):
    """The width is that of the look."""
    assert look(GOOD.format("<p style='width:400px'>wide</p>"), DESKTOP, name="wide").faults == []


def test_a_finger_s_targets_are_measured(look):
    """Of each link and button there is the size that a finger sees."""
    part = "<a href='#' style='display:inline-block;height:44px;line-height:44px'>Keep it</a>"
    (target,) = look(GOOD.format(part), PHONE, name="target").targets
    assert (target.name, target.tag, target.height) == ("Keep it", "a", 44)
